import { z } from 'zod';
import { limit, order, page, uuid } from './fields.ts';

/** The query of every list: `page` or `after` (the id of the last row seen), `limit`, `order`. */
export const listQuery = (options: { limit?: number } = {}) =>
  z.object({
    page: page(),
    limit: limit(options.limit),
    after: uuid()
      .optional()
      .meta({ description: 'Id of the last row seen; the list continues after it. Replaces `page`.' }),
    order: order(),
  });

/**
 * The query of partners' lists, newest first: as that of every list, but an `after` that names none of the caller's rows
 * is refused.
 */
export const partnerListQuery = () =>
  listQuery({ limit: 50 })
    .omit({ order: true })
    .extend({
      after: uuid()
        .optional()
        .meta({
          description:
            'Id of the last row seen; the list continues after it, in place of `page`, so that rows made meanwhile neither ' +
            'repeat nor hide others. After the last row the page is empty. An id that names no row of yours in this list is refused.',
          examples: ['019bbf98-8f08-7a16-8d02-6b7f3c9e1a55'],
        }),
    });

export interface Paging {
  page: number;
  limit: number;
}

/** `page`, `limit`, `total` as lists without a documented envelope carry them (docs/contract.md 0). */
export const presentPage = ({ page, limit }: Paging, total: number) => ({ page, limit, total });

/** `limit`, `count` of all matches, `currentPage`, `totalPages` as the documented envelopes carry them. */
export const presentCounted = ({ page, limit }: Paging, count: number) => ({
  limit,
  count,
  currentPage: page,
  totalPages: Math.ceil(count / limit),
});

export const pageFields = { page: z.int(), limit: z.int(), total: z.int() };
export const countedFields = { limit: z.int(), count: z.int(), currentPage: z.int(), totalPages: z.int() };
