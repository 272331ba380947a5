import type { CircleTerms } from '../../src/circles/terms.ts';
import {
  type BuiltCircle,
  buildConsentedCircle,
  buildMembers,
  type CirclePlace,
  circleWhen,
  contribute,
} from './build-circle.ts';
import { openNextRound, type RoundPlace } from './end-interval.ts';

/** Creates a two-member `winner_first` circle in its second round; its first member has received the pot. */
export async function buildWindfall(
  stack: CirclePlace & RoundPlace,
  terms: Partial<CircleTerms> = {},
): Promise<BuiltCircle> {
  const members = await buildMembers(stack, 2);
  const circle = await buildConsentedCircle(stack, members, { terms: { on_default: 'winner_first', ...terms } });
  const { id, creator } = circle;
  for (const member of members) expect((await contribute(stack, member, id)).status).toBe(201);
  await circleWhen(stack, creator, id, { current_turn: 2 });
  await openNextRound(stack, id);
  await circleWhen(stack, creator, id, { next_round_opens_at: null });
  return circle;
}
