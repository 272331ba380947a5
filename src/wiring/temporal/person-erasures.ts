import type { ErasureWorkflows } from '../../control/erasure/erasure.ts';
import { canonicalId } from '../../shared/uuid.ts';
import type { Temporal } from './temporal.ts';

export const createErasureWorkflows = (temporal: Temporal): ErasureWorkflows => ({
  lookAfterErasure: (erasureId) =>
    temporal.startOnce({
      workflow: 'personErasure',
      subject: erasureId,
      input: { erasureId: canonicalId(erasureId) },
      summary: 'The erasure of a person, as two people have decided',
    }),
});
