import type { CircleWorkflows, ToldCircle } from '../../circles/circle-contract.ts';
import { wholeRupiah } from '../../shared/money.ts';
import { canonicalId } from '../../shared/uuid.ts';
import type { Hints } from './hints.ts';
import { ofOrganization, searchAttributeKeys } from './search-attributes.ts';
import type { Temporal } from './temporal.ts';

export function createCircleWorkflows(temporal: Temporal, hints: Hints): CircleWorkflows {
  const signal = (circleId: string, told?: ToldCircle): Promise<void> => {
    const run = {
      workflow: 'savingCircle' as const,
      subject: circleId,
      input: { circleId: canonicalId(circleId) },
      ...(told ? tell(told) : { summary: 'A saving circle, resumed' }),
    };
    return temporal.signalWithStart(run, 'circleChanged');
  };
  return {
    wakeSavingCircle: async (circleId, told) => void (await hints.send(() => signal(circleId, told))),
    lookAfterSavingCircle: signal,
  };
}

const tell = ({ amount, round_interval, turn_order, organization_id }: ToldCircle) => ({
  summary: `A saving circle of IDR ${amount}, ${round_interval}, by ${turn_order}`,
  attributes: [
    { key: searchAttributeKeys.AmountIdr, value: wholeRupiah(amount) },
    ...ofOrganization(organization_id ?? null),
  ],
});
