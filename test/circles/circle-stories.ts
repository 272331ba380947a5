import fc from 'fast-check';
import { defaultRules } from '../../src/circles/terms.ts';

const actions = fc.record({
  does: fc.oneof(
    { weight: 6, arbitrary: fc.constant('pay' as const) },
    { weight: 2, arbitrary: fc.constantFrom('pay for', 'pay by order', 'order', 'stand', 'replace' as const) },
  ),
  who: fc.nat(3),
  whom: fc.nat(3),
});
/** Random circles: their terms, and the members' actions in each round. */
export const stories = fc.record({
  size: fc.integer({ min: 2, max: 4 }),
  percent: fc.constantFrom(0, 25, 50, 100),
  rule: fc.constantFrom(...defaultRules),
  graceDays: fc.integer({ min: 0, max: 2 }),
  /** A bit set of the members with a small balance. */
  poor: fc.nat(15),
  /** The members' actions in each round, in order, and whether the circle is then cancelled. */
  rounds: fc.array(fc.record({ actions: fc.array(actions, { maxLength: 7 }), cancels: fc.nat(9) }), {
    minLength: 4,
    maxLength: 4,
  }),
});
export type Story = typeof stories extends fc.Arbitrary<infer T> ? T : never;
export type Action = Story['rounds'][number]['actions'][number];
