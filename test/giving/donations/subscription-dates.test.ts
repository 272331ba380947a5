import { attemptAt, dueAt } from '../../../src/giving/donations/subscription.ts';
import { formatWesternIndonesia } from '../../../src/shared/clock.ts';

const noon = (day: string) => new Date(`${day}T12:00:00+07:00`);
const days = (start: string, interval: 'weekly' | 'monthly', periods: number[]) =>
  periods.map((period) => formatWesternIndonesia(dueAt(noon(start), interval, period)).slice(0, 10));

describe('The n-th period of a subscription', () => {
  it('Weekly period n (the first is 0) falls n weeks after the first', () => {
    expect(days('2026-01-31', 'weekly', [0, 1, 4, 52])).toEqual([
      '2026-01-31',
      '2026-02-07',
      '2026-02-28',
      '2027-01-30',
    ]);
  });

  it('Monthly period n falls n months after the first, or on the last day of a shorter month', () => {
    expect(days('2026-01-31', 'monthly', [1, 2, 3, 4, 12, 13])).toEqual([
      '2026-02-28',
      '2026-03-31',
      '2026-04-30',
      '2026-05-31',
      '2027-01-31',
      '2027-02-28',
    ]);
    expect(days('2027-12-30', 'monthly', [1, 2, 3])).toEqual(['2028-01-30', '2028-02-29', '2028-03-30']);
    expect(days('2026-06-15', 'monthly', [1, 6, 7])).toEqual(['2026-07-15', '2026-12-15', '2027-01-15']);
  });

  it('Subscription periods follow the calendar of UTC+7', () => {
    const first = new Date('2026-01-31T01:00:00+07:00');
    expect(formatWesternIndonesia(dueAt(first, 'monthly', 1))).toBe('2026-02-28 01:00:00');
    expect(formatWesternIndonesia(dueAt(new Date('2026-03-01T00:30:00+07:00'), 'monthly', 1))).toBe(
      '2026-04-01 00:30:00',
    );
  });

  it('A period is first attempted when due, then a day after the previous attempt, even a late one', () => {
    const due = dueAt(noon('2026-01-31'), 'monthly', 1);
    const days = (last: Date) =>
      [1, 2, 3].map((attempt) => formatWesternIndonesia(attemptAt(due, attempt, last)).slice(0, 10));
    expect(days(noon('2026-03-09'))).toEqual(['2026-02-28', '2026-03-10', '2026-03-10']);
  });
});
