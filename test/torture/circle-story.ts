import { cancelCircle, contribute, foundCircle, join, untilOpen } from './circle-steps.ts';
import type { Work } from './plan-work.ts';
import type { Workplace } from './workplace.ts';

/**
 * Runs a circle from its creation to its last round: everyone contributes in each round, from a balance or by the
 * gateway, and retries if an answer was lost. The next round is made due as soon as the pot is paid, because the day
 * between two rounds is too long for a test.
 */
export async function runCircle(place: Workplace, work: Extract<Work, { do: 'circle' }>): Promise<void> {
  const { cast } = place;
  const members = work.members.map((number) => cast.users[number]?.user).filter((user) => user !== undefined);
  const [owner] = members;
  if (owner === undefined) return;
  const circleId = await foundCircle(place, work, { owner, size: members.length });
  if (circleId === null) return;
  const accounts = members.map(({ accountId }) => accountId);
  if (!(await join(place, owner.token, { saving_circle_id: circleId, account_ids: accounts }))) return;
  for (let turn = 1; turn <= work.rounds && !place.over.aborted; turn += 1) {
    if (!(await untilOpen(place, circleId, turn))) return;
    const cancelled = work.end === 'cancel' && turn === 2;
    const contributions = members.map((payer, index) =>
      contribute(place, work, { name: `t${turn}m${index}`, payer, circleId, byGateway: (turn + index) % 3 === 0 }),
    );
    if (cancelled) await cancelCircle(place, work, circleId);
    await Promise.all(contributions);
    if (cancelled) return;
  }
}
