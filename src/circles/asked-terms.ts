import { z } from 'zod';
import { defaultRules, longestGraceDays } from './terms.ts';

const percent = 'must be a whole number from 0 to 100';
const days = `must be a whole number from 0 to ${longestGraceDays}`;
/** The terms in a request. */
export const AskedTermsBody = z
  .strictObject({
    grace_days: z
      .int(days)
      .min(0, days)
      .max(longestGraceDays, days)
      .nullish()
      .meta({ description: 'Whole days after the interval of a round until what is missing is a default; default 0.' }),
    on_default: z
      .enum(defaultRules)
      .nullish()
      .meta({
        description:
          'Of a round with a default: `wait` waits for what is missing; `cover` takes it from guarantees, first the ' +
          'member’s own, or waits; `exclude` ends the places of those who have not paid, if anybody has; `winner_first` ' +
          'debits those who have received, each day. Orders end with the days of grace. Default `wait`.',
      }),
    guarantee_percent: z
      .int(percent)
      .min(0, percent)
      .max(100, percent)
      .nullish()
      .meta({ description: 'Of the contribution, debited beside the first one and given back at the end; default 0.' }),
  })
  .meta({
    description: 'What becomes of a round in which contributions are missing. In a PATCH what is absent stays.',
  });
