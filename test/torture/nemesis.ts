import { setTimeout as sleep } from 'node:timers/promises';
import { forgeCallback } from './forge.ts';
import { harmWorkflow, startSweepsTwice } from './harm-workflows.ts';
import { holdBalance } from './hold-balance.ts';
import { killWhileSending } from './kill-while-sending.ts';
import { type DiskName, diskNames, linkNames, type PartName, partNames, serviceNames, workerNames } from './parts.ts';
import type { Fault } from './plan-faults.ts';
import { callbackFaults, providerFaults } from './provider-troubles.ts';
import { createRandom, type Random } from './random.ts';
import { createReleases } from './releases.ts';
import type { Topology } from './topology.ts';
import { uploadSomething } from './upload-something.ts';
import { readWaiting } from './waiting-rows.ts';

export interface Nemesis {
  /** Injects a fault and, after its time, undoes it. */
  strike(fault: Fault): Promise<void>;
  /** Undoes everything: all parts run, all connections are open, the provider works. */
  heal(): Promise<void>;
  /** Records that all waiting rows have lost their workflow. */
  noteLost(): Promise<void>;
  /** Why faults had no effect or could not be injected, except faults that this machine does not support. */
  readonly idle: readonly string[];
  /** Workflows that were stopped by hand or lost: sweeps must restart them. */
  readonly takenWorkflows: ReadonlySet<string>;
  /** The runs of workflows that were terminated, or reset to their beginning. */
  readonly endedRuns: ReadonlySet<string>;
}

interface NemesisOptions {
  topology: Topology;
  seed: number;
  /** The token of a user who may upload. */
  token: string;
  note(text: string): void;
  /** Writes to the console. */
  aloud(text: string): void;
  /** Ends lasting faults when the plan's time is over. */
  over: AbortSignal;
}

const hourMs = 3_600_000;

/** A disk can be filled only where a small one could be mounted. */
export const canAct = ({ disk }: Pick<Topology, 'disk'>, fault: Fault): boolean =>
  fault.do !== 'disk-full' || disk(fault.of) !== null;

export function createNemesis({ topology, seed, token, note, aloud, over }: NemesisOptions): Nemesis {
  const { signal, link } = topology;
  /** The provider's current troubles, which are always sent together. */
  const troubles = new Map<string, object>();
  const stopped = new Set<number>();
  const restarting = new Set<Promise<unknown>>();
  /** By process, the last fault that moved its clock. */
  const clocks = new Map<string, string>();
  const takenWorkflows = new Set<string>();
  const endedRuns = new Set<string>();
  const idle: string[] = [];

  const last = (forMs: number) => sleep(forMs, undefined, { signal: over }).catch(() => undefined);
  const tellProvider = async () => {
    const faults: Record<string, object> = {};
    for (const trouble of troubles.values()) {
      for (const [where, what] of Object.entries(trouble)) faults[where] = { ...faults[where], ...what };
    }
    const { status, body } = await topology.sandbox.put('/sandbox/faults', faults);
    if (status !== 200) throw new Error(`the sandbox rejected a fault: ${JSON.stringify(body)}`);
  };
  /** Starts a part, with retries: its dependencies may be down. */
  const bringBack = async (name: PartName): Promise<void> => {
    const starting = (async () => {
      for (let attempt = 0; !topology.part(name)?.isRunning(); attempt += 1) {
        await topology.start(name).catch(async (error: unknown) => {
          if (attempt >= 5) throw error;
          note(`${name} did not start: ${String(error).slice(0, 200)}`);
          if ((serviceNames as readonly PartName[]).includes(name)) await reviveTemporal();
        });
      }
      note(`${name} runs again`);
    })();
    restarting.add(starting);
    await starting.finally(() => restarting.delete(starting));
  };
  /** Starts parts, beginning with those that others need. */
  const bringAllBack = async (names: readonly PartName[]) => {
    const isService = (name: PartName) => (serviceNames as readonly PartName[]).includes(name);
    await Promise.all(names.filter((name) => !isService(name)).map(bringBack));
    await Promise.all(names.filter(isService).map(bringBack));
  };

  async function noteLost(): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        for (const { workflowId } of await readWaiting(topology.em())) takenWorkflows.add(workflowId);
        return;
      } catch (error) {
        // The database may be down because of another fault.
        if (attempt >= 30) throw error;
        await sleep(1_000);
      }
    }
  }

  /**
   * Restarts Temporal if it does not answer, as an operator would: after a long pause its development server may run on
   * without a database connection.
   */
  async function reviveTemporal(): Promise<void> {
    for (let attempt = 0; !(await topology.temporalAnswers()); attempt += 1) {
      if (attempt < 5) {
        await sleep(2_000);
        continue;
      }
      if (attempt > 7) throw new Error('Temporal does not answer, although it was restarted');
      note('Temporal runs but does not answer; restarting it');
      await topology.kill('temporal');
      await bringBack('temporal');
    }
  }

  const releases = createReleases({ topology, note, last, bringBack });

  async function during(id: string, trouble: object, forMs: number): Promise<void> {
    troubles.set(id, trouble);
    try {
      await tellProvider();
      await last(forMs);
    } finally {
      troubles.delete(id);
      await tellProvider().catch(() => note('the sandbox’s faults could not be cleared'));
    }
  }

  /**
   * Pauses a backend in the middle of a payment: one of the product's, or one that holds a lock that all debits need.
   */
  async function pauseBackend(forMs: number, random: Random): Promise<void> {
    await using holder = random.chance(0.5) ? await holdBalance(topology.ownerUrl) : undefined;
    const pid = holder?.pid ?? (await findBusyBackend(random));
    if (pid === undefined) throw new Error('there is no backend to pause');
    try {
      process.kill(pid, 'SIGSTOP');
      stopped.add(pid);
      note(
        holder ? `the backend ${pid} is paused, holding account ${holder.accountId}` : `the backend ${pid} is paused`,
      );
      await last(forMs);
    } finally {
      resume(pid);
    }
  }
  async function findBusyBackend(random: Random): Promise<number | undefined> {
    // Transactions are short, so several tries may be needed to catch one.
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const pid = await findOneInTransaction(random);
      if (pid !== undefined) return pid;
      await sleep(50);
    }
    return undefined;
  }
  async function findOneInTransaction(random: Random): Promise<number | undefined> {
    const rows = await topology.em().execute<{ pid: number }[]>(
      `select pid from pg_stat_activity where application_name = 'amanah' and pid <> pg_backend_pid()
         and xact_start is not null and backend_type = 'client backend' order by pid limit 8`,
    );
    return rows.length === 0 ? undefined : random.pick(rows).pid;
  }
  const resume = (pid: number) => {
    stopped.delete(pid);
    try {
      process.kill(pid, 'SIGCONT');
    } catch {
      // It has already exited.
    }
  };

  async function fillDisk(of: DiskName, forMs: number): Promise<void> {
    const disk = topology.disk(of);
    if (disk === null) {
      aloud(`a full disk of ${of} is skipped: a small disk could not be mounted here`);
      throw new Error('there is no small disk');
    }
    if (of === 'postgres') topology.mayEnd('postgres');
    disk.fill();
    if (of === 'api') await uploadSomething(topology, token, note);
    await last(forMs);
    disk.free();
    if (of === 'api') return;
    // PostgreSQL may have exited, and its keeper with it.
    await sleep(1_000);
    await bringBack('postgres');
  }

  async function moveClocks({ id, parts, hours, forMs }: Extract<Fault, { do: 'clock' }>): Promise<void> {
    for (const name of parts) clocks.set(name, id);
    for (const name of parts) topology.moveClock(name, hours * hourMs);
    await last(forMs);
    // Another fault may have moved the clock since.
    for (const name of parts) if (clocks.get(name) === id) topology.moveClock(name, 0);
  }

  async function operation(fault: Fault, random: Random): Promise<void> {
    switch (fault.do) {
      case 'kill':
        await Promise.all(fault.parts.map((name) => topology.kill(name)));
        await last(fault.forMs);
        return bringAllBack(fault.parts);
      case 'kill-while-sending':
        return killWhileSending(topology, {
          hang: (forMs) => during(fault.id, { requests: { hang_rate: 1, hang_after_effect: true } }, forMs),
          over,
          dead: () => last(fault.forMs),
          bringBack: () => bringAllBack(workerNames),
        });
      case 'pause':
        for (const name of fault.parts) signal(name, 'SIGSTOP');
        await last(fault.forMs);
        for (const name of fault.parts) signal(name, 'SIGCONT');
        return;
      case 'hold-balance': {
        await using _holder = await holdBalance(topology.ownerUrl);
        return void (await last(fault.forMs));
      }
      case 'pause-backend':
        return pauseBackend(fault.forMs, random);
      case 'network':
        link(fault.link).set(fault.trouble);
        await last(fault.forMs);
        link(fault.link).set({ kind: 'pass' });
        return;
      case 'provider':
        return during(fault.id, providerFaults[fault.trouble], fault.forMs);
      case 'callbacks':
        return during(fault.id, callbackFaults[fault.trouble], fault.forMs);
      case 'forge':
        return forgeCallback(topology, fault.forgery, random, note);
      case 'workflow': {
        const isHarmed = await harmWorkflow(topology, fault.harm, random, ({ id, runId }) => {
          note(`${fault.harm} of ${id}`);
          // A reset ends the run and starts another one.
          if (fault.harm !== 'cancel') endedRuns.add(runId);
          if (fault.harm !== 'reset') takenWorkflows.add(id);
        });
        if (!isHarmed) throw new Error('no workflow runs');
        return;
      }
      case 'two-sweeps':
        return startSweepsTwice(topology, fault.id);
      case 'lose-temporal':
        await topology.loseTemporal();
        await last(fault.forMs);
        await bringBack('temporal');
        await noteLost();
        // As the runbook says: workers register search attributes and schedules when they start.
        await Promise.all(workerNames.map((name) => topology.kill(name)));
        await bringAllBack(workerNames);
        return releases.promote();
      case 'disk-full':
        return fillDisk(fault.of, fault.forMs);
      case 'clock':
        return moveClocks(fault);
      case 'new-build':
        return releases.next();
      case 'rolling-restart':
        for (const name of serviceNames) {
          await topology.stop(name);
          await bringBack(name);
        }
        return;
      default:
        throw new Error(`there is no fault ${JSON.stringify(fault satisfies never)}`);
    }
  }

  return {
    takenWorkflows,
    endedRuns,
    idle,
    noteLost,
    async strike(fault) {
      const { id, at, ...what } = fault;
      note(`${id}: ${JSON.stringify(what)}`);
      // A fault without a target (because another fault has taken it down) has no effect.
      await operation(fault, createRandom(`${seed}/${id}`)).catch((error: unknown) => {
        const why = String(error).slice(0, 200);
        if (canAct(topology, fault)) idle.push(`${fault.do}: ${why}`);
        note(`${id} could not be injected: ${why}`);
      });
      note(`${id} is over`);
    },
    async heal() {
      for (const name of linkNames) link(name).set({ kind: 'pass' });
      for (const pid of [...stopped]) resume(pid);
      for (const name of diskNames) topology.disk(name)?.free();
      for (const name of serviceNames) topology.moveClock(name, 0);
      for (const name of partNames) signal(name, 'SIGCONT');
      await Promise.allSettled([...restarting]);
      await bringAllBack(partNames.filter((name) => !topology.part(name)?.isRunning()));
      await reviveTemporal();
      await releases.finish();
      troubles.clear();
      await tellProvider();
      note('all faults are over, and all parts run');
    },
  };
}
