import type { CircleOpening, CircleWorkflows } from '../../circles/circle-contract.ts';
import { wholeRupiah } from '../../shared/money.ts';
import { canonicalId } from '../../shared/uuid.ts';
import type { Hints } from './hints.ts';
import { ofOrganization, searchAttributeKeys } from './search-attributes.ts';
import type { Temporal } from './temporal.ts';

export function createCircleWorkflows(temporal: Temporal, hints: Hints): CircleWorkflows {
  const signal = (circleId: string): Promise<void> => {
    const run = {
      workflow: 'savingCircle' as const,
      subject: circleId,
      input: { circleId: canonicalId(circleId) },
      summary: 'A saving circle, resumed',
    };
    return temporal.signalWithStart(run, 'circleChanged');
  };
  return {
    async startSavingCircle(circleId, opening, waitMs) {
      const run = {
        workflow: 'savingCircle' as const,
        subject: circleId,
        input: { circleId, opening: temporal.prove({ kind: 'saving_circle', resourceId: circleId }, opening) },
        summary: summaryOf(opening),
        attributes: attributesOf(opening),
      };
      await temporal.startAndAwait(run, { name: 'awaitCircle' }, waitMs);
    },
    wakeSavingCircle: async (circleId) => void (await hints.send(() => signal(circleId))),
    lookAfterSavingCircle: signal,
  };
}

const summaryOf = ({ circle: { amount, round_interval, turn_order } }: CircleOpening) =>
  `A saving circle of IDR ${amount}, ${round_interval}, by ${turn_order}`;

const attributesOf = ({ circle: { organization_id, amount } }: CircleOpening) => [
  { key: searchAttributeKeys.AmountIdr, value: wholeRupiah(amount) },
  ...ofOrganization(organization_id ?? null),
];
