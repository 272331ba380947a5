import type { PartnerInstrumentWorkflows } from '../../money-in/partner-instruments/partner-instrument.ts';
import { canonicalId } from '../../shared/uuid.ts';
import { searchAttributeKeys } from './search-attributes.ts';
import type { Temporal } from './temporal.ts';
import { updateIdOf } from './update-id.ts';

export const createPartnerInstrumentWorkflows = (temporal: Temporal): PartnerInstrumentWorkflows => ({
  startPartnerInstrument(instrumentId, opening, waitMs) {
    const place = { kind: 'partner_instrument', resourceId: instrumentId } as const;
    const run = {
      workflow: 'partnerInstrument' as const,
      subject: instrumentId,
      input: opening === null ? { instrumentId } : { instrumentId, opening: temporal.prove(place, opening) },
      ...(opening !== null && {
        summary: `Reusable instrument: ${opening.amount === null ? 'any amount' : `IDR ${opening.amount}`}`,
        attributes: [{ key: searchAttributeKeys.PartnerId, value: opening.partnerId }],
      }),
    };
    const id = opening === null ? `code-${instrumentId}` : updateIdOf('instrument', instrumentId);
    return temporal.startAndAwait(run, { name: 'awaitPaymentCode' as const, id }, waitMs);
  },
  hintPartnerInstrument(instrumentId) {
    const run = {
      workflow: 'partnerInstrument' as const,
      subject: instrumentId,
      input: { instrumentId: canonicalId(instrumentId) },
      summary: 'A reusable instrument, looked after again',
    };
    return temporal.signalWithStart(run, 'callbackArrived');
  },
});
