import type { CircleProgress } from '../src/circles/circle-contract.ts';
import { formatWesternIndonesia } from '../src/shared/clock.ts';
import { tellDetails } from './go-on.ts';

/** Without a signal, a circle reads the database once a day. */
const lookEveryMs = 24 * 60 * 60 * 1000;

/** Milliseconds until the circle's next step or daily check; zero if it is due now. */
export function untilNextLook({ next, earlyByMs = 0 }: Exclude<CircleProgress, { phase: 'ended' }>): number {
  return next === null ? lookEveryMs : Math.min(Math.max(Date.parse(next.at) - Date.now(), earlyByMs, 0), lookEveryMs);
}

const wit = (instant: string): string => `${formatWesternIndonesia(new Date(instant))} (UTC+7)`;

/** Shows operators, in the web UI, the round, the turn, who has not paid (ids), and what happens next and when. */
export function tellCircle(circle: CircleProgress): void {
  tellDetails(story(circle));
}

function story(circle: CircleProgress): string {
  if (circle.phase === 'ended') return `Ended: ${circle.status}.`;
  const { turn, lastTurn, amount, members } = circle;
  switch (circle.phase) {
    case 'waiting for its start':
      return (
        `Not started: ${members} members so far, IDR ${amount} each round. Next: starts at ${wit(circle.next.at)}, ` +
        'or is cancelled then if it has fewer than two members.'
      );
    case 'between rounds':
      return `Between rounds of ${lastTurn}. Next: the round of turn ${turn} opens at ${wit(circle.next.at)}.`;
    case 'collecting':
      return collecting(circle, `Round of turn ${turn} of ${lastTurn}, IDR ${amount} from each of ${members}`);
  }
}

type Collecting = Extract<CircleProgress, { phase: 'collecting' }>;

function collecting(circle: Collecting, round: string) {
  const { missing, missingUserIds, receiverUserId, facts } = circle.round;
  if (missing === 0) return `${round}. Everybody has paid. Next: the pot goes to user ${receiverUserId} now.`;
  const further = missing > missingUserIds.length ? ` and ${missing - missingUserIds.length} more` : '';
  const due = facts.isOverdueReported
    ? `Overdue since ${wit(facts.dueAt)}; ${remedy(circle)}.`
    : `They are reported overdue at ${wit(facts.dueAt)}.`;
  return (
    `${round}. ${missing} have not paid: ${missingUserIds.join(', ')}${further}. ${due} ` +
    `Next: the pot goes to user ${receiverUserId} as soon as all have paid.`
  );
}

function remedy({ round: { facts }, next }: Collecting): string {
  if (facts.hasOrders) return 'the terms apply once no order for a contribution is open';
  if (next === null) return 'the round stays open';
  return `the terms say ${facts.rule}, which is ${facts.isDefaulted ? 'tried again' : 'due'} at ${wit(next.at)}`;
}
