import type { EntityManager } from '@mikro-orm/postgresql';
import { withTime } from '../../platform/database/database-time-outs.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { budgets } from '../../shared/budgets.ts';
import { sha256 } from '../../shared/digest.ts';
import { hashJournals } from './describe-journals.ts';
import {
  hashOfSeal,
  journalsPerSeal,
  manifestLine,
  maximumSealBytes,
  parseManifest,
  parseSealObject,
  type SealedJournal,
  type SealStatement,
  sealKey,
} from './seal.ts';
import type { SealKeys, SealPublicKey } from './seal-keys.ts';
import { type Differ, findRowless, type SealDifference, sealStoreOf } from './seal-objects.ts';

export interface SealVerdict {
  seals: number;
  /** Journals that were read and compared. */
  journals: number;
  /** Journals not sealed yet. */
  unsealed: number;
  /** The end of the chain. A record of it elsewhere reveals the removal of any earlier seal. */
  last: { number: number; hash: string; sealed_at: string } | null;
  /** The number of differences, and the first of them. */
  differences: number;
  sample: SealDifference[];
  /** Why the objects were not compared; null if they were. */
  objectsNotCompared: string | null;
  /** The last seal, while its object is still being stored. */
  beingStored: number | null;
  publicKeys: readonly SealPublicKey[];
}

interface VerifyParts {
  storage: Storage;
  keys: SealKeys;
}

interface SealRow {
  number: number;
  hash: string;
  jws: string;
  sealed_at: string;
  covers_until: string | null;
}

const rowsPerPage = 100;
const sampleSize = 100;
/** Maximum number of journals read per seal, more than any seal contains. */
const mostMembers = 2 * journalsPerSeal;
/** How long after its row the object of the last seal may still be missing. */
const onItsWayMs = 60 * 60 * 1000;
/** The hash of a journal without any rows. */
const hashOfNothing = sha256('');

/**
 * Verifies every seal: the chain, the signatures, each seal's statement, its journals as they are now, and its object
 * in the file store. Holds one seal in memory at a time. Does not throw if the file store is unavailable; the verdict
 * then states that objects were not compared.
 */
export async function verifySeals(em: EntityManager, parts: VerifyParts): Promise<SealVerdict> {
  const store = sealStoreOf(parts.storage);
  const verdict: Omit<SealVerdict, 'objectsNotCompared'> = {
    seals: 0,
    journals: 0,
    unsealed: await countUnsealed(em.fork()),
    last: null,
    differences: 0,
    sample: [],
    beingStored: null,
    publicKeys: parts.keys.publicKeys,
  };
  const differ = (difference: SealDifference) => {
    verdict.differences += 1;
    if (verdict.sample.length < sampleSize) verdict.sample.push(difference);
  };
  let before: SealRow | null = null;
  let chain: string | null = null;
  for await (const row of readSeals(em)) {
    const { number } = row;
    const expected = (before?.number ?? 0) + 1;
    if (number > expected) {
      const what = number === expected + 1 ? 'its row is gone' : `the rows from it to seal ${number - 1} are gone`;
      differ({ seal: expected, journal: null, what });
    }
    // No seal is made before the object of the last one is stored.
    if (verdict.beingStored !== null) differ({ seal: verdict.beingStored, journal: null, what: objectIsGone });
    verdict.beingStored = null;
    const { statement, problem } = await parts.keys.open(row.jws);
    if (problem !== null) differ({ seal: number, journal: null, what: `its signature does not hold: ${problem}` });
    for (const what of statement ? contradictions(row, statement, { before, chain }) : []) {
      differ({ seal: number, journal: null, what });
    }
    chain ??= statement?.chain ?? null;
    if (statement !== null) {
      const { bytes } = await store.read(sealKey(statement, row.hash), maximumSealBytes);
      if (bytes === null && isFresh(row)) verdict.beingStored = number;
      else if (bytes === null) differ({ seal: number, journal: null, what: objectIsGone });
      const listed = bytes ? compareObject(row, statement, bytes, differ) : null;
      verdict.journals += await compareJournals(em.fork(), { number, statement, listed }, differ);
    }
    verdict.seals += 1;
    verdict.last = { number, hash: row.hash, sealed_at: row.sealed_at };
    before = row;
  }
  await findRowless(em, { store, keys: parts.keys, chain }, differ);
  for (const what of await findHomeless(em.fork())) differ({ seal: null, journal: null, what });
  return { ...verdict, objectsNotCompared: store.away() };
}

/** Yields the seals by number, including those made during the run. */
async function* readSeals(em: EntityManager): AsyncGenerator<SealRow> {
  for (let after = 0; ; ) {
    const rows = await em.fork().execute<(Omit<SealRow, 'number'> & { number: string })[]>(
      `select number, hash, jws, to_json(sealed_at at time zone 'UTC') #>> '{}' || 'Z' as sealed_at,
         to_json(covers_until at time zone 'UTC') #>> '{}' || 'Z' as covers_until
       from seals where number > ? order by number limit ${rowsPerPage}`,
      [after],
    );
    for (const row of rows) {
      after = Number(row.number);
      yield { ...row, number: after };
    }
    if (rows.length === 0) return;
  }
}

/** Returns the differences between a seal's row and its statement or the previous seal. */
function contradictions(
  row: SealRow,
  statement: SealStatement,
  { before, chain }: { before: SealRow | null; chain: string | null },
): string[] {
  const follows = (before?.number ?? 0) === row.number - 1;
  const previous = before && hashOfSeal(before.jws);
  return [
    ...(row.hash === hashOfSeal(row.jws) ? [] : ['its hash is not that of its JWS']),
    ...(statement.number === row.number ? [] : [`it says that it is seal ${statement.number}`]),
    ...(!follows || statement.previous === previous ? [] : ['it does not follow from the seal before it']),
    ...(chain === null || statement.chain === chain ? [] : ['it is of another chain']),
    ...(statement.sealed_at === row.sealed_at ? [] : ['it says that it was made at another time']),
    ...(statement.covers_until === row.covers_until ? [] : ['it says that it covers another time']),
  ];
}

const objectIsGone = 'its object is gone';
const isFresh = ({ sealed_at }: SealRow): boolean => Date.now() - Date.parse(sealed_at) < onItsWayMs;

/**
 * Compares a seal's row with its object. Returns the journals that the seal provably had, or null if the object proves
 * nothing.
 */
function compareObject(row: SealRow, statement: SealStatement, bytes: Buffer, differ: Differ): SealedJournal[] | null {
  const say = (what: string) => differ({ seal: row.number, journal: null, what });
  const { jws, manifest } = parseSealObject(bytes.toString());
  if (jws !== row.jws) say('its object carries another seal');
  if (sha256(manifest) === statement.manifest) return parseManifest(manifest);
  say('its object lists other journals than were sealed');
  return null;
}

/**
 * Compares a seal's journals as they are now; reports each changed journal if its object lists them. Returns how many
 * journals it compared.
 */
async function compareJournals(
  em: EntityManager,
  { number, statement, listed }: { number: number; statement: SealStatement; listed: SealedJournal[] | null },
  differ: Differ,
): Promise<number> {
  return withTime(em, budgets.database.checks, async (tx) => {
    const rows = await tx.execute<{ journal_id: string }[]>(
      `select journal_id from seal_journals where seal_number = ? limit ${mostMembers + 1}`,
      [number],
    );
    if (rows.length > mostMembers) {
      differ({ seal: number, journal: null, what: 'it has more journals than a seal can have' });
      return 0;
    }
    const now = new Map<string, string>();
    let manifest = '';
    const ids = rows.map(({ journal_id }) => journal_id);
    for await (const journal of hashJournals(tx, ids)) {
      manifest += manifestLine(journal);
      now.set(journal.id, journal.hash);
    }
    if (sha256(manifest) === statement.manifest) return rows.length;
    if (listed === null) {
      differ({
        seal: number,
        journal: null,
        what: 'its journals are not what was sealed; only its object can tell which',
      });
      return rows.length;
    }
    const say = (journal: string, what: string) => differ({ seal: number, journal, what });
    for (const { id, hash } of listed) {
      const found = now.get(id);
      now.delete(id);
      if (found === undefined) say(id, 'was sealed, and is not among the journals of the seal');
      else if (found === hashOfNothing) say(id, 'was sealed, and is gone');
      else if (found !== hash) say(id, 'is not what was sealed');
    }
    for (const id of now.keys()) say(id, 'was not sealed, and is among the journals of the seal');
    return rows.length;
  });
}

/** Returns a difference for each missing seal that still has journals. */
async function findHomeless(em: EntityManager): Promise<string[]> {
  const rows = await withTime(em, budgets.database.checks, (tx) =>
    tx.execute<{ seal_number: string; journals: string }[]>(
      `select seal_number, count(*) as journals from seal_journals s
       where not exists (select from seals where number = s.seal_number) group by seal_number order by 1 limit ${sampleSize}`,
    ),
  );
  return rows.map(({ seal_number, journals }) => `${journals} journals are in seal ${seal_number}, which has no row`);
}

async function countUnsealed(em: EntityManager): Promise<number> {
  const [{ count }] = await withTime(em, budgets.database.checks, (tx) =>
    tx.execute<[{ count: string }]>(
      'select count(*) from journals j where not exists (select from seal_journals s where s.journal_id = j.id)',
    ),
  );
  return Number(count);
}
