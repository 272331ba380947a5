import { randomUUID } from 'node:crypto';
import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowIdReusePolicy,
} from '@temporalio/client';
import { type SearchAttributePair, TypedSearchAttributes, type Workflow } from '@temporalio/common';
import type { Proved, Prover } from '../../platform/encryption/prover.ts';
import { proveOpening } from '../../platform/openings/prove-opening.ts';
import { must } from '../../shared/assert.ts';
import { budgets } from '../../shared/budgets.ts';
import { refuse } from '../../shared/errors.ts';
import type { OpeningPlace } from '../../shared/opening.ts';
import { withPatience } from '../../shared/patience.ts';
import { workflowIds } from '../../shared/workflow-ids.ts';
import { withinWait } from './within-wait.ts';
import type { ResultOf, SignalOf, UpdatesOf, WorkflowContract, WorkflowName } from './workflow-contract.ts';

/** How long to wait for Temporal before it counts as down (a 503 within 3 seconds). */
const reachTimeoutMs = budgets.reach.temporal;
/** The longer bound for a process that is too busy to read the answer. */
const longestReachMs = 10_000;
/** The time-out of signals and starts. */
const callTimeoutMs = budgets.reach.temporalCall;
const retryAfterSeconds = 2;

/** A workflow to start; starting it for a subject that already has a run joins that run. */
export interface WorkflowRun<Name extends WorkflowName> {
  workflow: Name;
  /** The id of the workflow's subject; with the workflow's name it forms the workflow id. */
  subject: string;
  input: WorkflowContract[Name]['input'];
  /** A line for Temporal's web UI, never with personal data. */
  summary?: string;
  attributes?: SearchAttributePair[];
  /** Whether a workflow may be restarted for a subject whose run has ended; allowed by default. */
  reusePolicy?: WorkflowIdReusePolicy;
}

/** An update of a workflow; calls with the same id are one update. */
export interface WorkflowUpdate<Update> {
  name: Update;
  id?: string;
  args?: unknown[];
}

/**
 * The product's access to Temporal, for the workflow families' files beside this one. Every call is bounded; nothing
 * here uses the database.
 */
export interface Temporal {
  client: Client;
  taskQueue: string;
  /** Returns the opening with a proof that this process created it. Throws in a process that starts no workflows. */
  prove<Opening extends object>(place: OpeningPlace, opening: Opening): Proved<Opening>;
  /** Throws unless Temporal answers within a second and a half. */
  ping(): Promise<void>;
  /** Returns the server's version; throws like `ping`. */
  serverVersion(): Promise<string>;
  /**
   * Starts the workflow, or joins the run of the same subject, and waits at most `waitMs` for the update's answer. Null
   * when the wait timed out. Throws the workflow's own refusal, and SERVICE_UNAVAILABLE when Temporal is down.
   */
  startAndAwait<Name extends WorkflowName, Update extends keyof UpdatesOf<Name> & string>(
    run: WorkflowRun<Name>,
    update: WorkflowUpdate<Update>,
    waitMs: number,
  ): Promise<UpdatesOf<Name>[Update] | null>;
  /** Like `startAndAwait`, but waits for the workflow to complete. */
  startAndAwaitEnd<Name extends WorkflowName>(run: WorkflowRun<Name>, waitMs: number): Promise<ResultOf<Name> | null>;
  /** Signals the workflow, starting it first if it is not running. Throws when Temporal does not accept it in time. */
  signalWithStart<Name extends WorkflowName>(run: WorkflowRun<Name>, signal: SignalOf<Name>): Promise<void>;
  /**
   * Starts the workflow unless it is running, or `reusePolicy` treats its work as done. Throws like `signalWithStart`.
   */
  startOnce<Name extends WorkflowName>(run: WorkflowRun<Name>): Promise<void>;
}

/**
 * Wraps a Temporal client for the workflows of one task queue; `prover` proves openings. In the web UI, each started
 * workflow has a link to the console at `publicUrl`.
 */
export function createTemporal(client: Client, taskQueue: string, prover?: Prover, publicUrl?: string): Temporal {
  const withinCall = <T>(call: () => Promise<T>): Promise<T> => client.withDeadline(Date.now() + callTimeoutMs, call);
  const serverVersion = async (): Promise<string> => {
    // Aborting also ends the SDK's own retries, which outlive a deadline alone.
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
  let asking: Promise<void> | null = null;
  /** Called before anything is started. Concurrent requests share one ping of Temporal. */
  const reach = async (): Promise<void> => {
    asking ??= ping().finally(() => {
      asking = null;
    });
    try {
      await asking;
    } catch (cause) {
      refuse('SERVICE_UNAVAILABLE', 'The service is temporarily unavailable; try again', { cause, retryAfterSeconds });
    }
  };
  function optionsOf<Name extends WorkflowName>(run: WorkflowRun<Name>) {
    const { workflow, subject, input, summary, attributes, reusePolicy } = run;
    return {
      workflowId: workflowIds[workflow](subject),
      taskQueue,
      args: [input] as [typeof input],
      ...(summary !== undefined && { staticSummary: summary }),
      ...(publicUrl !== undefined && {
        staticDetails: `[Find it in the console](${new URL(`/operations/search?q=${subject}`, publicUrl).href})`,
      }),
      ...(attributes !== undefined && { typedSearchAttributes: new TypedSearchAttributes(attributes) }),
      ...(reusePolicy !== undefined && { workflowIdReusePolicy: reusePolicy }),
    };
  }
  return {
    client,
    taskQueue,
    prove: (place, opening) =>
      proveOpening(must(prover, 'a process that starts workflows has a prover'), place, opening),
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

/**
 * Creates the id of an update that waits for a request's opening: one per request, the same for every retry of its
 * call. The server remembers an update's outcome after its workflow has ended: with one id for all requests, a key
 * whose first request was refused would get that refusal forever, and the database's numbers repeat after a restore.
 */
export const updateIdOf = (name: string, resourceId: string): string => `${name}-${resourceId}-${randomUUID()}`;
