import type { EntityManager } from '@mikro-orm/postgresql';
import {
  answerOf,
  arriveUnderKey,
  claimFor,
  keepFirstAnswer,
  type SentAnswer,
} from '../../platform/openings/idempotency-keys.ts';
import { namingUnlessKeyed } from '../../platform/openings/open-once.ts';
import { budgets } from '../../shared/budgets.ts';
import { refuse } from '../../shared/errors.ts';
import { payoutBatchIdFor } from '../../shared/ids.ts';
import { type BatchPorts, writePayoutBatch } from './create-payout-batch.ts';
import { type BatchItemSchema, judgeItems } from './judge-items.ts';
import { presentPayoutBatch } from './present-payout-batch.ts';
import { readBatchFile } from './read-batch-file.ts';

export interface BatchImport {
  partnerId: string;
  /** The operator who imports the batch. */
  userId: string;
  file: { bytes: Uint8Array; sha256: string };
  externalRef: string | undefined;
  key: string | undefined;
  requestId: string;
}

/**
 * Creates a partner's batch from a file; one of the partner's keys must approve it. Returns the response, or the first
 * one for the same file and key. Throws REQUEST_INVALID with all errors in the file, by line, and for a partner that
 * has ten open batches, IDEMPOTENCY_KEY_REUSED, and, without a key, as `namingUnlessKeyed` does.
 */
export async function importPayoutBatch(
  em: EntityManager,
  ports: BatchPorts,
  itemSchema: BatchItemSchema,
  { partnerId, userId, file, externalRef, key, requestId }: BatchImport,
): Promise<SentAnswer> {
  const path = `/v1/partner-accounts/${partnerId}/payout-batches`;
  const claim = claimFor(userId, key, path, { file: file.sha256, external_ref: externalRef });
  const { stamp, made } = await arriveUnderKey(em.fork(), claim, { livesMs: budgets.opening.lives });
  const first = answerOf(made);
  if (first !== null) return first;
  const judge = async () => {
    const items = readBatchFile(file.bytes);
    const { judged, complaints } = await judgeItems(em, itemSchema, { partnerId, items });
    const messages = complaints.map(({ message }) => message);
    if (messages[0] !== undefined) refuse('REQUEST_INVALID', messages[0], { messages, details: complaints });
    return judged;
  };
  const id = payoutBatchIdFor(userId, key);
  const batch = await namingUnlessKeyed({ resourceId: id, stamp }, () =>
    writePayoutBatch(em, ports, {
      ...{ id, partnerId, judge, claim, stamp, externalRef, requestId },
      maker: { made_by: null, imported_by: userId },
      refuseTooMany: (complaint) => refuse('REQUEST_INVALID', complaint, { field: 'file' }),
    }),
  );
  const data = await presentPayoutBatch(ports.sealer, batch);
  const body = JSON.stringify({ message: 'Payout batch imported', data });
  return keepFirstAnswer(em.fork(), claim, { status: 201, body, replayed: false });
}
