import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { commitTo, inTurnOrder } from '../../src/circles/turn-order.ts';
import { addIntervals } from '../../src/shared/clock.ts';

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');
const member = fc.record({ account_id: fc.uuid() });
const members = fc.uniqueArray(member, { selector: ({ account_id }) => account_id, maxLength: 30 });

describe('The order of turns', () => {
  it('Turns follow the order of joining by default', () => {
    fc.assert(fc.property(members, (all) => expect(inTurnOrder('joining', all, null)).toEqual(all)));
  });

  it('A lottery orders members by ascending SHA-256 of `seed:account_id`', () => {
    fc.assert(
      fc.property(members, fc.stringMatching(/^[0-9a-f]{64}$/), (all, seed) => {
        const ranks = inTurnOrder('lottery', all, seed).map(({ account_id }) => sha256(`${seed}:${account_id}`));
        expect(ranks).toEqual(all.map(({ account_id }) => sha256(`${seed}:${account_id}`)).sort());
        expect(inTurnOrder('lottery', all.toReversed(), seed)).toEqual(inTurnOrder('lottery', all, seed));
      }),
    );
  });

  it('A lottery’s commitment is the SHA-256 of the seed as text', () => {
    expect(commitTo('00ff')).toBe(sha256('00ff'));
  });
});

describe('Intervals, counted in the calendar of UTC+7 from the first instant', () => {
  const from = (text: string) => new Date(`${text}+07:00`);
  it.each([
    ['monthly', '2026-01-31T00:00:00', 1, '2026-02-28T00:00:00'],
    ['monthly', '2026-01-31T00:00:00', 2, '2026-03-31T00:00:00'],
    ['monthly', '2028-01-31T09:30:00', 1, '2028-02-29T09:30:00'],
    ['monthly', '2026-10-31T23:59:59', 4, '2027-02-28T23:59:59'],
    ['monthly', '2026-03-01T00:30:00', 1, '2026-04-01T00:30:00'],
    ['weekly', '2026-12-30T08:00:00', 1, '2027-01-06T08:00:00'],
    ['daily', '2026-12-31T08:00:00', 1, '2027-01-01T08:00:00'],
  ] as const)('With a %s interval from %s, round %i is due at %s', (interval, first, count, expected) => {
    expect(addIntervals(from(first), interval, count).toISOString()).toBe(from(expected).toISOString());
  });
});
