import type { EntityManager } from '@mikro-orm/postgresql';
import { payoutTextsPlace } from '../../src/money-out/payouts/payout.ts';
import { placeOfDetails as placeOfAddress } from '../../src/people/addresses/address.ts';
import { placeOfBankDetails } from '../../src/people/bank-accounts/bank-account.ts';
import { placeOfUrl } from '../../src/people/documents/document.ts';
import { placeOfDetails as placeOfOfficialDocument } from '../../src/people/official-documents/official-document.ts';
import type { Place, Sealer } from '../../src/platform/encryption/sealer.ts';
import { textArray } from '../../src/shared/postgres.ts';

/** How many rows of a list to seal from a position on: more than any page. */
const shown = 100;

interface Shown {
  place: (id: string) => Place;
  /** The table of the rows, if it is not the one they are sealed for. */
  table?: string;
  text: string;
  /** The condition that selects the shown rows. */
  where: string;
}

/**
 * Seals the fields that pages of lists show: only those of the first and last pages and of the pages at `early`, because
 * sealing the whole year would cost more than everything else.
 */
export async function sealShown(
  em: EntityManager,
  sealer: Sealer,
  {
    userId,
    partnerId,
    batchId,
    early,
    payoutIds,
  }: { userId: string; partnerId: string; batchId: string; early: string; payoutIds: readonly string[] },
): Promise<void> {
  const payout = {
    place: payoutTextsPlace,
    text: JSON.stringify({
      bank_account_number: '1234567890',
      beneficiary_name: 'Budi',
      external_ref: null,
      reason: '',
    }),
  };
  const all: Shown[] = [
    {
      place: placeOfBankDetails,
      text: JSON.stringify({ account_number: '1234567890', account_holder: 'Budi' }),
      where: `user_id = '${userId}' and organization_id is null`,
    },
    {
      place: placeOfUrl,
      text: `documents/${userId}/picture`,
      where: `created_by = '${userId}' or visibility = 'public'`,
    },
    {
      place: placeOfOfficialDocument,
      text: JSON.stringify({ number: 'A1234567', name_on_document: 'Budi' }),
      where: `user_id = '${userId}'`,
    },
    { place: placeOfAddress, text: JSON.stringify({ city: 'Jakarta' }), where: 'true' },
    { ...payout, where: `id = any('${textArray(payoutIds)}'::uuid[])` },
    { ...payout, where: 'true' },
    { ...payout, where: "kind = 'withdrawal'" },
    { ...payout, where: `kind = 'partner_payout' and partner_id = '${partnerId}'` },
    { ...payout, table: 'payout_batch_items', where: `batch_id = '${batchId}'` },
  ];
  await em.transactional(async (tx) => {
    await tx.execute("set local session_replication_role = 'replica'");
    for (const { place, table = place('').table, text, where } of all) {
      const { column } = place('');
      const newest = (further: string) =>
        `(select id::text from ${table} where (${where}) and ${further} order by created_at desc, id desc limit ${shown})`;
      const rows = await tx.execute<{ id: string }[]>(
        `${newest('true')} union ${newest(`created_at < '${early}'`)} union
         (select id::text from ${table} where (${where}) order by created_at, id limit ${shown})`,
      );
      for (const { id } of rows)
        await tx.execute(`update ${table} set ${column} = ? where id = ?`, [await sealer.seal(place(id), text), id]);
    }
  });
}
