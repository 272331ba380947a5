import type { CircleProgress, OpenRound } from '../src/circles/circle-contract.ts';
import { nextOfRound, type RoundFacts, type RoundStep } from '../src/circles/default.ts';
import { formatWesternIndonesia } from '../src/shared/clock.ts';
import { tellDetails } from './go-on.ts';

/** A circle that no signal wakes reads the database once a day. */
const lookEveryMs = 24 * 60 * 60 * 1000;

export type CircleDue =
  | { in: 0; step: 'start' | 'open round' | 'pay the pot' | RoundStep }
  | { in: number; step: 'look' };

type Living = Exclude<CircleProgress, { phase: 'ended' }>;

/** The circle's next step, due now, or the milliseconds until it reads the database again at the latest. */
export function nextLook(circle: Living): CircleDue {
  switch (circle.phase) {
    case 'waiting for its start':
      return at(circle.startsAt, 'start');
    case 'between rounds':
      return at(circle.opensAt, 'open round');
    case 'collecting':
      if (circle.round.missing === 0) return { in: 0, step: 'pay the pot' };
      return inRound(circle.round.facts);
  }
}

function inRound(facts: RoundFacts): CircleDue {
  const next = nextOfRound(facts);
  return next === null ? { in: lookEveryMs, step: 'look' } : at(next.at, next.step);
}

function at(instant: string, step: 'start' | 'open round' | RoundStep): CircleDue {
  const left = Date.parse(instant) - Date.now();
  return left > 0 ? { in: Math.min(left, lookEveryMs), step: 'look' } : { in: 0, step };
}

const wit = (instant: string): string => `${formatWesternIndonesia(new Date(instant))} (UTC+7)`;

/** Shows operators, in the web UI: the round, the turn, who has not paid (ids), what happens next and when. */
export function tellCircle(circle: CircleProgress): void {
  tellDetails(story(circle));
}

function story(circle: CircleProgress): string {
  if (circle.phase === 'ended') return `Ended: ${circle.status}.`;
  const { turn, lastTurn, amount, members } = circle;
  switch (circle.phase) {
    case 'waiting for its start':
      return (
        `Not started: ${members} members so far, IDR ${amount} each round. Next: starts at ${wit(circle.startsAt)}, ` +
        'or is cancelled then if it has fewer than two members.'
      );
    case 'between rounds':
      return `Between rounds of ${lastTurn}. Next: the round of turn ${turn} opens at ${wit(circle.opensAt)}.`;
    case 'collecting':
      return collecting(circle.round, `Round of turn ${turn} of ${lastTurn}, IDR ${amount} from each of ${members}`);
  }
}

function collecting(open: OpenRound, round: string) {
  const { missing, missingUserIds, receiverUserId, facts } = open;
  if (missing === 0) return `${round}. Everybody has paid. Next: the pot goes to user ${receiverUserId}, now.`;
  const further = missing > missingUserIds.length ? ` and ${missing - missingUserIds.length} more` : '';
  const due = facts.isOverdueReported
    ? `Overdue since ${wit(facts.dueAt)}; ${remedy(facts)}.`
    : `They are reported overdue at ${wit(facts.dueAt)}.`;
  return (
    `${round}. ${missing} have not paid: ${missingUserIds.join(', ')}${further}. ${due} ` +
    `Next: the pot goes to user ${receiverUserId} as soon as all have paid.`
  );
}

function remedy(facts: RoundFacts): string {
  if (facts.hasOrders) return 'the terms apply once no order for a contribution is open any more';
  const next = facts.rule ? nextOfRound(facts) : null;
  if (next === null) return 'the round stays open';
  return `the terms say ${facts.rule}, which is ${facts.isDefaulted ? 'tried again' : 'due'} at ${wit(next.at)}`;
}
