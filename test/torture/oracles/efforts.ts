import type { Attempt, Facts, Finding } from '../facts.ts';

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
/** More than any request waits by the product's own budgets; longer ones are judged by what is left of them. */
const longestMs = 28_000;
/** An allocation may take a minute. */
const isJudged = ({ kind }: Attempt): boolean => kind !== 'allocation';

/** When no fault lasts, every request is answered within the time that the product gives itself. */
export function answersComeInTime({ attempts, troubled }: Facts): Finding[] {
  const isCalm = ({ sentAt, endedAt }: Attempt) =>
    !troubled.some(({ from, to }) => from < endedAt && sentAt < to + settlesWithinMs);
  return attempts
    .filter((attempt) => isJudged(attempt) && attempt.endedAt - attempt.sentAt > longestMs && isCalm(attempt))
    .map(({ kind, requestId, sentAt, endedAt, status, resourceId }) => ({
      oracle: 'answers-come-in-time',
      resourceId,
      says: `${kind} ${requestId} was answered ${status ?? 'nothing'} after ${endedAt - sentAt} ms, when no fault lasted`,
    }));
}

/** Logs tell of nobody, and no secrets. */
export function logsTellNothing({ leaks }: Facts): Finding[] {
  return leaks.map(({ part, what }) => ({
    oracle: 'logs-tell-nothing',
    resourceId: null,
    says: `the log of ${part} tells ${what}`,
  }));
}
