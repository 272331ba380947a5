import { setTimeout as sleep } from 'node:timers/promises';
import { type PartName, workerNames } from './parts.ts';
import { deploymentName, type Topology } from './topology.ts';

export interface Releases {
  /** Replaces the workers with those of another build id, as in the runbook. */
  next(): Promise<void>;
  /** Makes the newest build id current, if there is one, e.g. in a new Temporal. */
  promote(): Promise<void>;
  /** Finishes an interrupted release: both workers get the newest build id, which becomes current. */
  finish(): Promise<void>;
}

interface ReleasesOptions {
  topology: Topology;
  note(text: string): void;
  /** Waits a number of milliseconds, or until the faults are over. */
  last(ms: number): Promise<unknown>;
  bringBack(name: PartName): Promise<void>;
}

const tries = 30;
const betweenTriesMs = 1_000;
/** The old workers are stopped when no workflow needs them, or after this time. */
const drainedWithinMs = 6_000;

export function createReleases({ topology, note, last, bringBack }: ReleasesOptions): Releases {
  let number = 0;
  const newest = () => `build-${number}`;
  /** Runs one release after another. */
  let before: Promise<unknown> = Promise.resolve();
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = before.then(work);
    before = done.catch(() => undefined);
    return done;
  };

  async function promoteNow(): Promise<void> {
    if (number === 0) return;
    const version = ['--deployment-name', deploymentName, '--build-id', newest()];
    for (let attempt = 1; ; attempt += 1) {
      try {
        await topology.temporalCommand(['worker', 'deployment', 'set-current-version', ...version, '--yes']);
        note(`${newest()} is current`);
        return;
      } catch (error) {
        // Temporal is down because of another fault, or has not seen the worker yet.
        if (attempt >= tries) throw error;
        await sleep(betweenTriesMs);
      }
    }
  }

  async function replace(name: (typeof workerNames)[number]): Promise<void> {
    if (topology.buildOf(name) === newest() && topology.part(name)?.isRunning()) return;
    topology.setBuild(name, newest());
    await topology.stop(name);
    await bringBack(name);
  }

  async function untilDrained(old: string | null): Promise<void> {
    const endsAt = performance.now() + drainedWithinMs;
    while (old !== null && performance.now() < endsAt) {
      const version = ['--deployment-name', deploymentName, '--build-id', old];
      const told = await topology
        .temporalCommand(['worker', 'deployment', 'describe-version', ...version, '--output', 'json'])
        .catch(() => '');
      if (/"drainageStatus":\s*"drained"/i.test(told)) return note(`${old} is drained`);
      await last(betweenTriesMs);
    }
    if (old === null) await last(drainedWithinMs / 3);
  }

  return {
    next: () =>
      inTurn(async () => {
        const [first, second] = workerNames;
        const old = topology.buildOf(second);
        number += 1;
        await replace(first);
        await promoteNow();
        await untilDrained(old);
        await replace(second);
      }),
    promote: () => inTurn(promoteNow),
    finish: () =>
      inTurn(async () => {
        if (number === 0) return;
        for (const name of workerNames) await replace(name);
        await promoteNow();
      }),
  };
}
