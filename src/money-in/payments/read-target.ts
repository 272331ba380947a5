import type { EntityManager } from '@mikro-orm/postgresql';
import { executePrepared } from '../../platform/database/prepared-statements.ts';
import { fromStored, type StoredRefusal } from '../../platform/openings/open-once.ts';
import { must } from '../../shared/assert.ts';
import type { PaymentTarget, SqlCall } from './handler.ts';

/** The target of one payment, as the database judges it (an SQL expression of type payment_target[]); throws its refusal. */
export async function readTarget(em: EntityManager, { call, params }: SqlCall): Promise<PaymentTarget> {
  const [row] = await executePrepared<{ account_id: string | null; refusal: StoredRefusal | null }>(
    em,
    `select account_id, refusal from unnest(${call})`,
    params,
  );
  if (row?.refusal) throw fromStored(row.refusal);
  return { accountId: must(row?.account_id, 'a target that is not held is judged') };
}
