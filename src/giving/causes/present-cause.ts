import { z } from 'zod';
import { timestamp, uuid } from '../../platform/http/fields.ts';
import { presentMoneyAsNumber } from '../../shared/money.ts';
import { causeLaw, causeOwnerTypes } from './cause.ts';
import type { CauseRow } from './find-cause.ts';
import type { ListedCause } from './list-causes.ts';
import type { CauseAggregation } from './measure-cause.ts';

const listed = {
  id: uuid(),
  name: z.string(),
  target_amount: z.number(),
  current_amount: z.number().meta({ description: 'Donations received less refunds; disbursements do not lower it.' }),
  currency: z.literal('IDR'),
  owner_type: z.enum(causeOwnerTypes),
  organization_id: uuid().nullable(),
  account_id: uuid(),
  status: z.enum(causeLaw.statuses),
  created_at: timestamp(),
  updated_at: timestamp(),
};

/** A cause as lists show it. */
export const ListedCauseAnswer = z
  .object({ ...listed, account_id: uuid().optional().meta({ description: 'Not in discovery.' }) })
  .meta({ id: 'ListedCharitableCause' });

export const causeFields = {
  ...listed,
  description: z.string(),
  location: z.string().nullable(),
  regulations: z.string(),
  benefit: z.string(),
  created_by: uuid(),
  approved_at: timestamp().nullable(),
  managers: z.array(z.object({ user_id: uuid(), role: z.literal('manager') })),
};

/** A cause with all its stored fields. */
export const CauseAnswer = z.object(causeFields).meta({ id: 'CharitableCause' });

export const CauseAggregationAnswer = z.object({
  donation_count: z.int(),
  donor_count: z.int(),
  progress_percent: z.number().meta({ description: 'Percent of the target, with two decimals; may exceed 100.' }),
});

const instant = (value: Date | string): string => new Date(value).toISOString();

/** Returns a cause as lists show it; in discovery without its account. */
export function presentListedCause(cause: ListedCause, discovered = false): z.input<typeof ListedCauseAnswer> {
  const { account_id: _, ...open } = presentListed(cause);
  return discovered ? open : presentListed(cause);
}

const presentListed = (cause: ListedCause) => ({
  id: cause.id,
  name: cause.name,
  target_amount: presentMoneyAsNumber(cause.target_amount),
  current_amount: presentMoneyAsNumber(cause.current_amount),
  currency: 'IDR' as const,
  owner_type: cause.owner_type,
  organization_id: cause.organization_id,
  account_id: cause.account_id,
  status: cause.status,
  created_at: instant(cause.created_at),
  updated_at: instant(cause.updated_at),
});

export const presentCause = (cause: CauseRow): z.input<typeof CauseAnswer> => ({
  ...presentListed(cause),
  description: cause.description,
  location: cause.location,
  regulations: cause.regulations,
  benefit: cause.benefit,
  created_by: cause.created_by,
  approved_at: cause.approved_at === null ? null : instant(cause.approved_at),
  managers: cause.managers,
});

export const presentAggregation = (aggregation: CauseAggregation): z.input<typeof CauseAggregationAnswer> => ({
  donation_count: Number(aggregation.donation_count),
  donor_count: Number(aggregation.donor_count),
  progress_percent: Number(aggregation.progress_percent),
});
