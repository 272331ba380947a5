import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { getPartner } from '../../partners/find-partner.ts';
import { managesPartners } from '../../partners/partner-accounts.routes.ts';
import { bodyLimitBytes } from '../../platform/http/body.ts';
import { externalRef, uuid } from '../../platform/http/fields.ts';
import { readIdempotencyKey } from '../../platform/http/idempotency-key.ts';
import { receiveFile } from '../../platform/http/receive-file.ts';
import { sendStored } from '../../platform/http/replay.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { validate } from '../../platform/http/validate.ts';
import { budgets } from '../../shared/budgets.ts';
import type { BatchPorts } from './create-payout-batch.ts';
import { importPayoutBatch } from './import-payout-batch.ts';
import { mostItems, mostOpenBatches } from './payout-batch.ts';
import { NewItem } from './payout-batches.routes.ts';
import { PayoutBatchShape } from './present-payout-batch.ts';
import { fileColumns } from './read-batch-file.ts';

const routes = createRouteGroup<BatchPorts>({ prefix: '/v1/partner-accounts', tag: 'Partner accounts' });

const Fields = z.strictObject({
  external_ref: externalRef().optional().meta({ description: "The partner's reference for the batch." }),
});

routes.post(
  '/:id/payout-batches',
  {
    summary: 'Import a batch of payouts from a file',
    description:
      `CSV in UTF-8, separated by commas or semicolons, with the columns ${fileColumns.map((name) => `\`${name}\``).join(', ')} ` +
      `(the last may be missing) and 1 to ${mostItems.toLocaleString('en')} payouts. Each is validated like a ` +
      'payout by the partner, and one response lists all errors by line. Reserves nothing until a key of the partner ' +
      `with \`approve-payout\` approves the batch. A partner has at most ${mostOpenBatches} open batches. The same ` +
      '`Idempotency-Key` and file return the first response.',
    access: managesPartners,
    params: z.object({ id: uuid() }),
    upload: {
      contentType: 'multipart/form-data',
      schema: Fields.extend({
        file: z
          .string()
          .meta({ override: { type: 'string', format: 'binary' }, description: 'At most 1,048,576 bytes.' }),
      }),
    },
    idempotent: true,
    answers: { 201: z.object({ message: z.string(), data: PayoutBatchShape.omit({ status_url: true }) }) },
    refusals: [400, 404, 408, 413],
  },
  async ({ em, deps, caller, params, ctx, requestId }) => {
    await getPartner(em, params.id);
    const limits = { maximumBytes: bodyLimitBytes.list, stallTimeoutMs: budgets.upload.stalled };
    await using file = await receiveFile(ctx, { field: 'file', ...limits });
    const { external_ref } = file.fields;
    const fields = validate(Fields, { ...file.fields, external_ref: external_ref === '' ? undefined : external_ref });
    return sendStored(
      await importPayoutBatch(em, deps, NewItem, {
        partnerId: params.id,
        userId: caller.userId,
        file: { bytes: await buffer(file.open()), sha256: file.sha256 },
        externalRef: fields.external_ref,
        key: readIdempotencyKey(ctx),
        requestId,
      }),
    );
  },
);

export const importedBatchesRoutes = routes;
