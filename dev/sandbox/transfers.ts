import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { nameAtBank } from './account-number.ts';
import { readCosts, readOwnMoney } from './costs.ts';
import { queueCallback } from './outbox.ts';
import type { Job } from './scheduler.ts';
import { dueAt, listForPage, stepJob } from './steps.ts';
import type { Row, Store } from './store.ts';
import { fateOf, presentTransfer, type SandboxTransfer } from './transfer.ts';
import { notFound, WireError } from './wire-error.ts';

/** The request body that the provider accepts, without any other field. */
export const createPayoutBody = z.strictObject({
  reference_id: z.string().min(1).max(255),
  channel_code: z.string().min(1).max(100),
  channel_properties: z.strictObject({
    account_number: z.string().regex(/^\d{5,20}$/, 'must be 5 to 20 digits'),
    account_holder_name: nameAtBank(100).regex(/\S/, 'must not be blank'),
    account_type: z.string().nullish(),
  }),
  amount: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER),
  currency: z.literal('IDR'),
  description: z.string().max(100).nullish(),
  receipt_notification: z.record(z.string(), z.unknown()).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
});

/** The statuses that a transfer can be set to by hand. */
export const settlement = z.enum(['SUCCEEDED', 'FAILED', 'REVERSED']);

/** The business's balance before any payment; large enough for every test. */
const openingBalance = 1_000_000_000_000;

function transferIn(row: Row): SandboxTransfer {
  const transfer: SandboxTransfer = JSON.parse(String(row.document));
  return transfer;
}

function save(store: Store, transfer: SandboxTransfer): void {
  store.run(
    `insert into transfers (id, reference_id, next_at, document) values (?, ?, ?, ?)
     on conflict (id) do update set next_at = excluded.next_at, document = excluded.document`,
    transfer.id,
    transfer.referenceId,
    dueAt(transfer),
    JSON.stringify(transfer),
  );
}

function become(store: Store, transfer: SandboxTransfer, changes: Partial<SandboxTransfer>): SandboxTransfer {
  const changed = { ...transfer, ...changes, updated: new Date().toISOString() };
  save(store, changed);
  queueCallback(store, `payout.${changed.status.toLowerCase()}`, presentTransfer(changed));
  return changed;
}

/** Accepts a transfer and schedules its outcome. */
export function createTransfer(store: Store, body: z.infer<typeof createPayoutBody>, key: string): SandboxTransfer {
  const { account_number, account_holder_name } = body.channel_properties;
  const now = new Date().toISOString();
  const transfer: SandboxTransfer = {
    id: `disb-${randomUUID()}`,
    referenceId: body.reference_id,
    idempotencyKey: key,
    channelCode: body.channel_code,
    accountNumber: account_number,
    accountHolderName: account_holder_name,
    amount: body.amount,
    cost: readCosts(store).transfer,
    description: body.description ?? null,
    metadata: body.metadata ?? null,
    status: 'ACCEPTED',
    failureCode: null,
    steps: fateOf(account_number).steps,
    created: now,
    updated: now,
  };
  save(store, transfer);
  return transfer;
}

export function findTransfer(store: Store, id: string): SandboxTransfer | null {
  const row = store.get('select document from transfers where id = ?', id);
  return row ? transferIn(row) : null;
}

/** Newest first, with one row more than `limit`; without `referenceId`, transfers of every reference. */
export function listTransfers(
  store: Store,
  filter: { referenceId?: string | undefined; afterId?: string | undefined; limit: number },
): SandboxTransfer[] {
  const { referenceId, afterId, limit } = filter;
  const conditions = [
    ...(referenceId === undefined ? [] : ['reference_id = ?']),
    ...(afterId === undefined ? [] : ['seq < (select seq from transfers where id = ?)']),
  ];
  const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
  const values = [referenceId, afterId].filter((value) => value !== undefined);
  return store
    .all(`select document from transfers ${where} order by seq desc limit ?`, ...values, limit + 1)
    .map(transferIn);
}

/** Cancels a transfer that has not been sent yet. */
export function cancelTransfer(store: Store, id: string): SandboxTransfer {
  return store.transaction(() => {
    const transfer = findTransfer(store, id);
    if (!transfer) throw notFound('payout');
    if (transfer.status !== 'ACCEPTED') {
      throw new WireError(400, 'INVALID_PAYOUT_STATUS', `a payout that is ${transfer.status} cannot be cancelled`);
    }
    return become(store, transfer, { status: 'CANCELLED', steps: [] });
  });
}

/** Sets every transfer of this reference by hand, whatever its status; its scheduled steps are dropped. */
export function settleTransfers(
  store: Store,
  referenceId: string,
  status: z.infer<typeof settlement>,
): SandboxTransfer[] {
  return store.transaction(() => {
    const failureCode = status === 'SUCCEEDED' ? null : 'REJECTED_BY_CHANNEL';
    return listTransfers(store, { referenceId, limit: 100 }).map((transfer) =>
      become(store, transfer, { status, failureCode, steps: [] }),
    );
  });
}

/**
 * The business's balance: payments and its own deposits, less refunds, transfers that were not returned and the
 * provider's fees. A failed transfer has no fee; one that the bank reversed does.
 */
export function readBalance(store: Store): number {
  const sum = (row: Row | undefined) => Number(row?.total ?? 0);
  const paid = store.get(
    `select sum((document ->> 'amount') - coalesce(document ->> 'cost', 0)) as total from payments
     where document ->> 'status' = 'SUCCEEDED'`,
  );
  const sent = store.get(
    `select sum(case document ->> 'status' when 'REVERSED' then 0 else document ->> 'amount' end
       + coalesce(document ->> 'cost', 0)) as total
     from transfers where document ->> 'status' in ('ACCEPTED', 'SUCCEEDED', 'REVERSED')`,
  );
  const refunded = store.get(
    `select sum(document ->> 'amount') as total from refunds where document ->> 'status' in ('PENDING', 'SUCCEEDED')`,
  );
  return openingBalance + readOwnMoney(store) + sum(paid) - sum(sent) - sum(refunded);
}

/** The transfers shown on the page. */
export const listTransfersForPage = (store: Store, limit: number) => listForPage(store, 'transfers', limit, transferIn);

/** The job that completes accepted transfers. */
export const transferJob = (store: Store): Job => stepJob(store, 'transfers', transferIn, become);
