import type { Attempt, Facts, Finding } from '../facts.ts';

/** How many pieces of work may fail in any run, and which shares of faults and work may. */
const handful = 5;
const shares = { idle: 0.25, brokenOff: 0.05 };
const toldReasons = 5;

/** A run that completed little of its plan proves little. */
export function plansAreCarriedOut({ effort: { faults, idle, work, brokenOff } }: Facts): Finding[] {
  const judge = (failed: readonly string[], all: number, most: number, says: string): Finding[] => {
    if (failed.length <= Math.max(handful, all * most)) return [];
    const reasons = [...new Set(failed)].slice(0, toldReasons).join('; ');
    return [
      { oracle: 'plans-are-carried-out', resourceId: null, says: `${failed.length} of ${all} ${says}: ${reasons}` },
    ];
  };
  return [
    ...judge(idle, faults, shares.idle, 'faults had no effect'),
    ...judge(brokenOff, work, shares.brokenOff, 'pieces of work failed'),
  ];
}

/** In normal operation a request is answered within this time, even on a busy machine. */
const longestMs = 10_000;

/**
 * After the faults the product answers again, and in time. On a busy machine single requests may take longer, but not
 * half of them.
 */
export function answersComeInTime({ attempts, calm }: Facts): Finding[] {
  const oracle = 'answers-come-in-time';
  const asked = attempts.filter(({ work }) => calm.includes(work));
  const judge = (failed: readonly Attempt[], says: string): Finding[] => {
    const [first] = failed;
    if (first === undefined || failed.length * 2 < asked.length) return [];
    const { kind, requestId, resourceId } = first;
    const whole = `of ${asked.length} requests that were sent when all faults were over, ${failed.length} ${says}, e.g. ${kind} ${requestId}`;
    return [{ oracle, resourceId, says: whole }];
  };
  return [
    ...judge(
      asked.filter(({ sentAt, endedAt }) => endedAt - sentAt > longestMs),
      `waited for more than ${longestMs} ms`,
    ),
    ...judge(
      asked.filter(({ status }) => status === null || status >= 500),
      'had no answer, or one with an unknown outcome',
    ),
  ];
}

/** Logs and histories contain no personal data and no secrets. */
export function logsTellNothing({ leaks }: Facts): Finding[] {
  return leaks.map(({ part, what }) => ({
    oracle: 'logs-tell-nothing',
    resourceId: null,
    says: `${part} contains ${what}`,
  }));
}
