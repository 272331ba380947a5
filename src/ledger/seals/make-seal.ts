import type { EntityManager } from '@mikro-orm/postgresql';
import { allowTime, withTime } from '../../platform/database/database-time-outs.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { must } from '../../shared/assert.ts';
import { budgets } from '../../shared/budgets.ts';
import { sha256 } from '../../shared/digest.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { newId } from '../../shared/ids.ts';
import { isUniqueViolation, textArray } from '../../shared/postgres.ts';
import { hashJournals } from './describe-journals.ts';
import { hashOfSeal, journalsPerSeal, manifestLine, type SealStatement, sealFormat } from './seal.ts';
import type { SealKeys } from './seal-keys.ts';
import { storeSeal } from './store-seal.ts';

export interface SealStep {
  /** The number of the new seal; null if another step has already made the last seal of this pass. */
  number: number | null;
  journals: number;
  /** Whether every journal committed before the pass began is sealed. */
  done: boolean;
}

interface SealParts {
  storage: Storage;
  keys: SealKeys;
  /** Maximum number of journals in one seal. */
  size?: number;
}

/** The next seal, as of one snapshot. */
interface Draft {
  last: { number: number; pass: string; covers: boolean; jws: string } | null;
  sealedAt: string;
  /** When the pass took its first snapshot. */
  begunAt: string;
  ids: string[];
  manifest: string;
}

/** How many times a step may lose a number to a concurrent step before it gives up. */
const longestRace = 100;
/** The smallest possible id, which a journal may have. */
const leastId = '00000000-0000-0000-0000-000000000000';

/**
 * Makes the next seal of a pass, from unsealed journals of any date, up to the maximum size. A pass goes through them
 * once in id order; its position is read only from its own seals. The last seal of a pass states that no journal
 * committed before the pass is left unsealed; a night without journals gets a seal too. Safe to repeat and to run
 * concurrently: only one step can insert the seal's row with its number, which fixes the seal and its journals and
 * determines its object. Throws if the last seal is not one of ours, or if the file store is unavailable.
 */
export async function makeSeal(em: EntityManager, parts: SealParts, pass: string): Promise<SealStep> {
  const size = parts.size ?? journalsPerSeal;
  for (let race = 0; race < longestRace; race += 1) {
    // First store the object of the last seal, whose step may have been killed; only the last seal can lack its object.
    const draft = await readDraft(em.fork(), pass, size);
    const { last, ids, sealedAt, begunAt } = draft;
    const before = last && (await openLast(parts.keys, last));
    if (last && before) await storeSeal(em.fork(), parts.storage, { jws: last.jws, statement: before });
    const done = ids.length < size;
    const step = { journals: ids.length, done };
    if (last?.pass === pass && last.covers) return { ...step, number: null, done: true };
    const statement: SealStatement = {
      format: sealFormat,
      chain: before?.chain ?? newId(),
      number: (before?.number ?? 0) + 1,
      previous: last && hashOfSeal(last.jws),
      sealed_at: sealedAt,
      covers_until: done ? begunAt : null,
      journals: ids.length,
      manifest: sha256(draft.manifest),
    };
    const jws = await parts.keys.sign(statement);
    await failpoint('make-seal.before-row');
    if (!(await keep(em.fork(), { statement, jws, ids, pass }))) continue;
    await failpoint('make-seal.before-object');
    await storeSeal(em.fork(), parts.storage, { jws, statement, manifest: draft.manifest });
    await failpoint('make-seal.after-object');
    return { ...step, number: statement.number };
  }
  throw new Error('another process wrote every seal first');
}

/**
 * Reads the content of the next seal in one snapshot: the last seal, the unsealed journals, and their texts. A later
 * snapshot finds journals that commit later, whatever their dates and ids.
 */
async function readDraft(em: EntityManager, pass: string, size: number): Promise<Draft> {
  return em.transactional(
    async (tx) => {
      await allowTime(tx, budgets.database.seal);
      // now() is before the snapshot, so the snapshot sees everything committed by then.
      const [{ sealed_at: sealedAt }] = await tx.execute<[{ sealed_at: string }]>(
        `select to_json(now() at time zone 'UTC') #>> '{}' || 'Z' as sealed_at`,
      );
      const [last] = await tx.execute<{ number: string; pass: string; covers: boolean; jws: string }[]>(
        'select number, pass, covers_until is not null as covers, jws from seals order by number desc limit 1',
      );
      const [before] = await tx.execute<{ begun_at: string; last_journal_id: string | null }[]>(
        `select to_json(first_value(sealed_at) over w at time zone 'UTC') #>> '{}' || 'Z' as begun_at, last_journal_id
         from seals where pass = ? window w as (order by number) order by number desc limit 1`,
        [pass],
      );
      const ids = await findUnsealed(tx, before?.last_journal_id ?? null, size);
      let manifest = '';
      for await (const journal of hashJournals(tx, ids)) manifest += manifestLine(journal);
      const begunAt = before?.begun_at ?? sealedAt;
      return { last: last ? { ...last, number: Number(last.number) } : null, sealedAt, begunAt, ids, manifest };
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

/**
 * Finds unsealed journals after an id, or from the first. A whole pass reads the two indexes once, side by side; a plan
 * with a hash or sort would read all journals again at each step.
 */
async function findUnsealed(tx: EntityManager, after: string | null, size: number): Promise<string[]> {
  const [isNext, last] = after === null ? ['>=', leastId] : ['>', after];
  await tx.execute('set local enable_hashjoin = off; set local enable_seqscan = off');
  const rows = await tx.execute<{ id: string }[]>(
    `select j.id from journals j where j.id ${isNext} ?
       and not exists (select from seal_journals s where s.journal_id = j.id and s.journal_id ${isNext} ?)
     order by j.id limit ?`,
    [last, last, size],
  );
  await tx.execute('set local enable_hashjoin = on; set local enable_seqscan = on');
  return rows.map(({ id }) => id);
}

/** Opens the last seal's statement. Throws if the seal is not ours or has an unexpected number. */
async function openLast(keys: SealKeys, last: { number: number; jws: string }): Promise<SealStatement> {
  const { statement, problem } = await keys.open(last.jws);
  if (problem !== null || statement?.number !== last.number) {
    throw new Error(`seal ${last.number} cannot be trusted: ${problem ?? 'its number differs'}`);
  }
  return must(statement, 'a signed statement is readable');
}

/** Inserts the seal and its journals atomically. Returns false if another step has inserted that number. */
async function keep(
  em: EntityManager,
  { statement, jws, ids, pass }: { statement: SealStatement; jws: string; ids: string[]; pass: string },
): Promise<boolean> {
  const { number, sealed_at, covers_until } = statement;
  try {
    await withTime(em, budgets.database.seal, (tx) =>
      tx.execute('select write_seal(?, ?, ?, ?, ?, ?, ?::uuid[])', [
        number,
        hashOfSeal(jws),
        jws,
        pass,
        sealed_at,
        covers_until,
        textArray(ids),
      ]),
    );
    return true;
  } catch (error) {
    if (isUniqueViolation(error)) return false;
    throw error;
  }
}
