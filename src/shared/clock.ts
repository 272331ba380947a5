/** Western Indonesia Time, UTC+7, without daylight saving. */
export const westernIndonesiaOffsetMs = 7 * 60 * 60 * 1000;

/**
 * All our instants are earlier: the database refuses this one and later ones, because no dates could be computed from
 * them.
 */
export const endOfTime = new Date('2200-01-01T00:00:00.000Z');

/** `YYYY-MM-DD HH:mm:ss` in UTC+7, the form of `expired_date` (docs/contract.md 3). */
export function formatWesternIndonesia(instant: Date): string {
  return new Date(instant.getTime() + westernIndonesiaOffsetMs).toISOString().slice(0, 19).replace('T', ' ');
}

/** The instant at which a calendar day (`YYYY-MM-DD`) begins in UTC+7. */
export function startOfWesternIndonesiaDay(day: string): Date {
  return new Date(Date.parse(`${day}T00:00:00.000Z`) - westernIndonesiaOffsetMs);
}

/** The calendar day (`YYYY-MM-DD`) of an instant in UTC+7. */
export function westernIndonesiaDay(instant: Date): string {
  return formatWesternIndonesia(instant).slice(0, 10);
}
