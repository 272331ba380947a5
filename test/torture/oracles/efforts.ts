import type { Facts, Finding } from '../facts.ts';

/** So many may always fail, and this share of all. */
const handful = 5;
const shares = { idle: 0.25, brokenOff: 0.05 };
const toldReasons = 5;

/** A run that did little of its plan proves little. */
export function plansAreCarriedOut({ effort: { faults, idle, work, brokenOff } }: Facts): Finding[] {
  const judge = (failed: readonly string[], all: number, most: number, says: string): Finding[] => {
    if (failed.length <= Math.max(handful, all * most)) return [];
    const reasons = [...new Set(failed)].slice(0, toldReasons).join('; ');
    return [
      { oracle: 'plans-are-carried-out', resourceId: null, says: `${failed.length} of ${all} ${says}: ${reasons}` },
    ];
  };
  return [
    ...judge(idle, faults, shares.idle, 'faults found nothing to do'),
    ...judge(brokenOff, work, shares.brokenOff, 'pieces of work broke off'),
  ];
}

/** After a fault what was held up is still done; all is well again after this. */
const settlesWithinMs = 45_000;
/** More than any request waits by the product's own budgets, but for an allocation, which may take a minute. */
const longestMs = 25_000;
/** Fewer say nothing. */
const enough = 20;

/**
 * When no fault lasts, requests are answered within the time that the product gives itself. Single ones wait for longer
 * where all that had no answer is asked for again at once, on a busy machine: half of them never do.
 */
export function answersComeInTime({ attempts, troubled }: Facts): Finding[] {
  const calm = attempts.filter(
    ({ kind, sentAt, endedAt }) =>
      kind !== 'allocation' && !troubled.some(({ from, to }) => from < endedAt && sentAt < to + settlesWithinMs),
  );
  const late = calm.filter(({ sentAt, endedAt }) => endedAt - sentAt > longestMs);
  const [first] = late;
  if (first === undefined || calm.length < enough || late.length * 2 < calm.length) return [];
  const says = `of ${calm.length} requests that were sent when no fault lasted, ${late.length} waited for more than ${longestMs} ms, e.g. ${first.kind} ${first.requestId}`;
  return [{ oracle: 'answers-come-in-time', resourceId: first.resourceId, says }];
}

/** Logs tell of nobody, and no secrets. */
export function logsTellNothing({ leaks }: Facts): Finding[] {
  return leaks.map(({ part, what }) => ({
    oracle: 'logs-tell-nothing',
    resourceId: null,
    says: `the log of ${part} tells ${what}`,
  }));
}
