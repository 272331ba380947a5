/** Marks a part of a page that is temporarily unavailable. */
export const unreadable = 'unreadable';
/** A part of a page: null when the caller may not read it. */
export type Part<Shown> = Shown | typeof unreadable | null;
export interface Listed<Item> {
  items: Item[];
  total: number;
  next?: string | undefined;
}
