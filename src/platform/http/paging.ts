import { z } from 'zod';
import { type Listed, nextOf, readNext } from '../database/position.ts';
import { limit, order, page, uuid } from './fields.ts';

const exampleNext = nextOf('2026-01-31T08:00:00.123456Z 019bbf98-8f08-7a16-8d02-6b7f3c9e1a55');

/** `after`: a `next`, or the id of a row in the list. */
const after = (id: z.ZodType<string>) =>
  z
    .string()
    .refine(
      (value) => id.safeParse(readNext(value)?.id ?? value).success,
      'must be the id of a row, or a value of next',
    )
    .optional()
    .meta({
      description:
        'Continues the list, in place of `page`: the `next` of the previous page, or the id of its last row, so that ' +
        'new rows neither repeat nor hide others. A `next` keeps working when that row is deleted; an id that is not ' +
        'a row of yours in this list is refused.',
      examples: [exampleNext],
    });

/** The query of every list: `page` or `after`, `limit`, `order`. Ids of rows are UUIDs unless `id` says otherwise. */
export const listQuery = (options: { limit?: number; id?: z.ZodType<string> } = {}) =>
  z.object({
    page: page(),
    limit: limit(options.limit),
    after: after(options.id ?? uuid()),
    order: order(),
  });

/** The query of partners' lists, newest first. */
export const partnerListQuery = () => listQuery({ limit: 50 }).omit({ order: true });

export interface Paging {
  page: number;
  limit: number;
}

/**
 * Returns `page`, `limit`, `total` as in lists without a documented envelope, and `next` when rows follow
 * (docs/contract.md 0).
 */
export const presentPage = ({ page, limit }: Paging, { total, next }: Listed) => ({ page, limit, total, next });

/**
 * Returns `limit`, `count` of all matches, `currentPage`, `totalPages` as in the documented envelopes, and `next` when
 * rows follow.
 */
export const presentCounted = ({ page, limit }: Paging, { total: count, next }: Listed) => ({
  limit,
  count,
  currentPage: page,
  totalPages: Math.ceil(count / limit),
  next,
});

const next = z
  .string()
  .optional()
  .meta({
    description: 'The `after` of the next page. Absent when no row follows.',
    examples: [exampleNext],
  });

const number = (description: string, example: number) => z.int().meta({ description, examples: [example] });
const size = number('The maximum number of rows per page.', 10);
const all = number('The number of rows on all pages.', 42);

export const pageFields = { page: number('The page, from 1.', 1), limit: size, total: all, next };
export const countedFields = {
  limit: size,
  count: all,
  currentPage: number('The page, from 1.', 1),
  totalPages: number('The number of pages.', 5),
  next,
};
