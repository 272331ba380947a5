import { formatWesternIndonesia } from '../../../shared/clock.ts';

/** People's names by id, as far as the caller may read them. */
export type Names = ReadonlyMap<string, string>;
/** A person's name, or else the id. */
export const nameOf = (names: Names, id: string): string => names.get(id) ?? id;

/** IDR, formatted for people. */
export const money = (amount: string): string => {
  const [whole = '', fraction = ''] = amount.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return `IDR ${grouped}${/^0*$/.test(fraction) ? '' : `.${fraction}`}`;
};
/** An instant in Western Indonesia Time, to the minute. */
export const instant = (text: string): string => `${formatWesternIndonesia(new Date(text)).slice(0, 16)} WIB`;
/** Like `instant`, for an optional instant. */
export const instantOr = (text: string | null, none: string): string => (text === null ? none : instant(text));
/** The console's search for an id or reference, which leads to its page if there is one match. */
export const searchFor = (q: string): string => `/operations/search?${new URLSearchParams({ q }).toString()}`;
/** An API value in words. */
export const words = (value: string): string => value.replaceAll('_', ' ').toLowerCase();
