import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowIdReusePolicy,
} from '@temporalio/client';
import { type SearchAttributePair, TypedSearchAttributes, type Workflow } from '@temporalio/common';
import type { Proved, Prover } from '../encryption/prover.ts';
import type { OpeningPlace } from '../openings/opening.ts';
import { proveOpening } from '../openings/prove-opening.ts';
import { must } from '../shared/assert.ts';
import { budgets } from '../shared/budgets.ts';
import { refuse } from '../shared/errors.ts';
import { workflowIds } from '../shared/workflow-ids.ts';
import { withPatience } from './patience.ts';
import { withinWait } from './within-wait.ts';
import type { ResultOf, SignalOf, UpdatesOf, WorkflowContract, WorkflowName } from './workflow-contract.ts';

/** Reaching Temporal at all takes less than this, or it is away (a 503 within 3 seconds). */
const reachTimeoutMs = budgets.reach.temporal;
/** Of a process that is too busy to hear the answer: it is patient, but not for ever. */
const longestReachMs = 10_000;
/** Signals and starts answer within this, or have failed. */
const callTimeoutMs = budgets.reach.temporalCall;
const retryAfterSeconds = 2;

/** One run of a workflow; starting that of a subject that has one already joins it. */
export interface WorkflowRun<Name extends WorkflowName> {
  workflow: Name;
  /** The id of what it looks after; with the workflow's name it makes the id of the run. */
  subject: string;
  input: WorkflowContract[Name]['input'];
  /** What the web UI says of it in a line: never about people. */
  summary?: string;
  attributes?: SearchAttributePair[];
  /** What becomes of a subject whose run has ended; it may begin again unless this says otherwise. */
  reusePolicy?: WorkflowIdReusePolicy;
}

/** An update of a workflow; under an id of its own it is one update, however often it is sent. */
export interface WorkflowUpdate<Update> {
  name: Update;
  id?: string;
  args?: unknown[];
}

/**
 * The ways in which the product meets Temporal, for the files of the workflow families beside this one. Every call is
 * bounded; nothing here knows the database.
 */
export interface Temporal {
  client: Client;
  taskQueue: string;
  /** What a workflow is begun with, proved to come from here. Throws in a process that begins nothing. */
  prove<Opening extends object>(place: OpeningPlace, opening: Opening): Proved<Opening>;
  /** Throws unless Temporal answers within a second and a half. */
  ping(): Promise<void>;
  /** The server's version; throws as `ping`. */
  serverVersion(): Promise<string>;
  /**
   * Starts the workflow, or joins the run of the same subject, and waits at most `waitMs` for the update's answer. Null when
   * the wait ended without one. Refuses what the workflow refuses, and with SERVICE_UNAVAILABLE when Temporal is away.
   */
  startAndAwait<Name extends WorkflowName, Update extends keyof UpdatesOf<Name> & string>(
    run: WorkflowRun<Name>,
    update: WorkflowUpdate<Update>,
    waitMs: number,
  ): Promise<UpdatesOf<Name>[Update] | null>;
  /** The same for a workflow that is waited for to its end. */
  startAndAwaitEnd<Name extends WorkflowName>(run: WorkflowRun<Name>, waitMs: number): Promise<ResultOf<Name> | null>;
  /** Signals the workflow, which is started first where none runs. Throws when Temporal does not take it in time. */
  signalWithStart<Name extends WorkflowName>(run: WorkflowRun<Name>, signal: SignalOf<Name>): Promise<void>;
  /** Starts the workflow unless it runs, or `reusePolicy` says that it has done its work. Throws as `signalWithStart`. */
  startOnce<Name extends WorkflowName>(run: WorkflowRun<Name>): Promise<void>;
}

/** Wraps a client of Temporal for the workflows of one task queue; `prover` proves what is begun. */
export function createTemporal(client: Client, taskQueue: string, prover?: Prover): Temporal {
  const withinCall = <T>(call: () => Promise<T>): Promise<T> => client.withDeadline(Date.now() + callTimeoutMs, call);
  const serverVersion = async (): Promise<string> => {
    // The abort ends the SDK's own retries too, which a deadline alone lets run on.
    const info = await withPatience(reachTimeoutMs, (signal) =>
      client.withAbortSignal(signal, () =>
        client.withDeadline(Date.now() + longestReachMs, () => client.workflowService.getSystemInfo({})),
      ),
    );
    return info.serverVersion;
  };
  const ping = async (): Promise<void> => {
    await serverVersion();
  };
  /** Asked before anything is begun. */
  const reach = async (): Promise<void> => {
    try {
      await ping();
    } catch (cause) {
      refuse('SERVICE_UNAVAILABLE', 'Temporal cannot be reached; try again', { cause, retryAfterSeconds });
    }
  };
  function optionsOf<Name extends WorkflowName>(run: WorkflowRun<Name>) {
    const { workflow, subject, input, summary, attributes, reusePolicy } = run;
    return {
      workflowId: workflowIds[workflow](subject),
      taskQueue,
      args: [input] as [typeof input],
      ...(summary !== undefined && { staticSummary: summary }),
      ...(attributes !== undefined && { typedSearchAttributes: new TypedSearchAttributes(attributes) }),
      ...(reusePolicy !== undefined && { workflowIdReusePolicy: reusePolicy }),
    };
  }
  return {
    client,
    taskQueue,
    prove: (place, opening) => proveOpening(must(prover, 'what begins workflows can prove it'), place, opening),
    ping,
    serverVersion,
    async startAndAwait<Name extends WorkflowName, Update extends keyof UpdatesOf<Name> & string>(
      run: WorkflowRun<Name>,
      { name, id, args = [] }: WorkflowUpdate<Update>,
      waitMs: number,
    ) {
      await reach();
      const startWorkflowOperation = new WithStartWorkflowOperation<Workflow>(run.workflow, {
        ...optionsOf(run),
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
      return withinWait(client, waitMs, () =>
        client.workflow.executeUpdateWithStart<Workflow, UpdatesOf<Name>[Update], unknown[]>(name, {
          args,
          ...(id !== undefined && { updateId: id }),
          startWorkflowOperation,
        }),
      );
    },
    async startAndAwaitEnd<Name extends WorkflowName>(run: WorkflowRun<Name>, waitMs: number) {
      await reach();
      return withinWait(client, waitMs, async () => {
        const options = { ...optionsOf(run), workflowIdConflictPolicy: 'USE_EXISTING' as const };
        const handle = await client.workflow.start<Workflow>(run.workflow, options);
        return (await handle.result()) as ResultOf<Name>;
      });
    },
    async signalWithStart(run, signal) {
      await withinCall(() =>
        client.workflow.signalWithStart<Workflow>(run.workflow, { ...optionsOf(run), signal, signalArgs: [] }),
      );
    },
    async startOnce(run) {
      try {
        const options = { ...optionsOf(run), workflowIdConflictPolicy: 'USE_EXISTING' as const };
        await withinCall(() => client.workflow.start<Workflow>(run.workflow, options));
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },
  };
}
