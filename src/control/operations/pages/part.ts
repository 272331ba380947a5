/** Marks a part of a page that is temporarily unavailable. */
export const unreadable = 'unreadable';
/** A part of a page: null when the caller may not read it. */
export type Part<Shown> = Shown | typeof unreadable | null;
export interface Listed<Item> {
  items: Item[];
  total: number;
  next?: string | undefined;
}

const isShown = <Shown>(part: Part<Shown>): part is Shown => part !== null && part !== unreadable;

/** Joins parts into one: null if the caller may not read one of them, `unreadable` if one is temporarily unavailable. */
export function together<Shown>(parts: Part<Shown>[]): Part<Shown[]> {
  if (parts.every(isShown)) return parts;
  return parts.includes(null) ? null : unreadable;
}
