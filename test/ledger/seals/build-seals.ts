import type { EntityManager } from '@mikro-orm/postgresql';
import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import { openAccount } from '../../../src/ledger/accounts/open-account.ts';
import { makeSeal, type SealStep } from '../../../src/ledger/seals/make-seal.ts';
import { type SealVerdict, verifySeals } from '../../../src/ledger/seals/verify-seals.ts';
import { must } from '../../../src/shared/assert.ts';
import { newId } from '../../../src/shared/ids.ts';
import { plantJournal } from '../../support/plant-journal.ts';
import type { Stack } from '../../support/stack.ts';

type Sealing = Pick<Stack, 'em' | 'deps'>;

/** Writes a journal without proof, into a new account, as only the owner may. */
export async function post(tx: EntityManager): Promise<string> {
  const accountId = await openAccount(tx, { kind: 'user', name: 'Pocket' });
  return transfer(tx, systemAccounts.gatewayClearing, accountId);
}

async function transfer(tx: EntityManager, from: string, to: string): Promise<string> {
  const id = await plantJournal(tx, {
    kind: 'test.sealed',
    businessKey: `test/sealed/${newId()}`,
    postings: [
      { accountId: from, amount: '-1' },
      { accountId: to, amount: '1' },
    ],
  });
  return must(id, 'a new key posts');
}

/** Writes this many journals, each in its own transaction. */
export async function postMany({ owner }: Pick<Stack, 'owner'>, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.push(await owner().transactional((tx) => post(tx)));
  return ids;
}

/** Opens a transaction that has written a journal and blocks nothing, because it uses only its own accounts. */
export async function postLate({ owner }: Pick<Stack, 'owner'>): Promise<{ id: string; commit(): Promise<void> }> {
  const [from, to] = await owner().transactional(async (tx) => {
    const accounts = [
      await openAccount(tx, { kind: 'user', name: 'From' }),
      await openAccount(tx, { kind: 'user', name: 'To' }),
    ];
    await transfer(tx, systemAccounts.gatewayClearing, accounts[0] ?? '');
    return accounts;
  });
  const late = owner();
  await late.begin();
  return { id: await transfer(late, from ?? '', to ?? ''), commit: () => late.commit() };
}

/** Performs a sealing run as the workflow does; returns its steps. */
export async function sealAll(
  { em, deps }: Sealing,
  options: { pass?: string; size?: number } = {},
): Promise<SealStep[]> {
  const { pass = newId(), size } = options;
  const parts = { storage: deps.storage, keys: deps.sealKeys, ...(size !== undefined && { size }) };
  const steps: SealStep[] = [];
  for (;;) {
    const step = await makeSeal(em(), parts, pass);
    steps.push(step);
    if (step.done) return steps;
  }
}

/** Returns the seal that contains a journal, or null. */
export async function sealOf({ em }: Pick<Stack, 'em'>, journalId: string): Promise<number | null> {
  const [row] = await em().execute<{ seal_number: string }[]>(
    'select seal_number from seal_journals where journal_id = ?',
    [journalId],
  );
  return row === undefined ? null : Number(row.seal_number);
}

export const countSeals = async ({ em }: Pick<Stack, 'em'>): Promise<number> =>
  Number((await em().execute<[{ count: string }]>('select count(*) from seals'))[0].count);

export const verify = ({ em, deps }: Sealing): Promise<SealVerdict> =>
  verifySeals(em(), { storage: deps.storage, keys: deps.sealKeys });

/** Expects no differences, and that everything was compared. */
export async function expectIntact(stack: Sealing): Promise<SealVerdict> {
  const verdict = await verify(stack);
  expect(verdict).toMatchObject({ sample: [], differences: 0, objectsNotCompared: null, beingStored: null });
  return verdict;
}
