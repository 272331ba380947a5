import type { EntityManager } from '@mikro-orm/postgresql';
import type { PostingReferences } from '../../ledger/read-statement.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { textArray } from '../../shared/postgres.ts';
import { showPayoutTexts } from './open-payout-texts.ts';

interface Row {
  journal_id: string;
  reference: string | null;
  external_ref: string | null;
  payout_id: string | null;
  texts_sealed: string | null;
}

/** Maximum names decrypted at once. */
const openedAtOnce = 50;

/**
 * The subjects of journals on a partner's accounts: the payment, payout or refund as the API names it, and the
 * beneficiary of a payout or refund. Omits other journals.
 */
export async function describePostings(
  em: EntityManager,
  sealer: Sealer,
  journalIds: readonly string[],
): Promise<Map<string, PostingReferences>> {
  const rows = await em.execute<Row[]>(
    `select j.id as journal_id, coalesce(o.reference, p.external_ref, p.id::text) as reference,
       coalesce(o.external_ref, p.external_ref) as external_ref, o.id as payout_id, o.texts_sealed
     from journals j
     cross join lateral (select split_part(j.business_key, '/', 1) as family,
       substring(j.business_key from '^[a-z-]+/([0-9a-f-]{36})/')::uuid as id) subject
     left join receipts r on subject.family = 'receipt' and r.id = subject.id
     left join partner_payments p
       on p.id = case subject.family when 'partner-payment' then subject.id
         else substring(r.reference from '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$')::uuid end
     left join decisions d
       on d.id = case subject.family when 'transfer' then substring(j.business_key from '[0-9a-f-]{36}$')::uuid end
     left join payouts o on o.id = case when subject.family in ('partner-payout', 'payment-refund') then subject.id
         else d.payout_id end
     where j.id = any(?::uuid[]) and (p.id is not null or o.id is not null)`,
    [textArray(journalIds)],
  );
  const described = new Map<string, PostingReferences>();
  for (let first = 0; first < rows.length; first += openedAtOnce) {
    const some = rows.slice(first, first + openedAtOnce);
    const names = await Promise.all(some.map((row) => beneficiaryOf(sealer, row)));
    some.forEach(({ journal_id, reference, external_ref }, at) => {
      described.set(journal_id, { reference, external_ref, beneficiary_name: names[at] ?? null });
    });
  }
  return described;
}

async function beneficiaryOf(sealer: Sealer, { payout_id: id, texts_sealed }: Row): Promise<string | null> {
  if (id === null || texts_sealed === null) return null;
  return (await showPayoutTexts(sealer, { id, texts_sealed })).beneficiary_name ?? null;
}
