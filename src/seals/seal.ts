import { sha256 } from '../shared/digest.ts';

/** Pure facts about seals: what one says, the texts that are hashed, and where its object lies. */

/** What a seal says; signed, and kept as the payload of a JWS. Instants are UTC with microseconds, as `…T…Z`. */
export interface SealStatement {
  /** How journals were written as text. */
  format: typeof sealFormat;
  /** The same for all seals of a database: several may share a bucket. */
  chain: string;
  /** 1, 2, 3, … */
  number: number;
  /** The hash of the seal before; null for the first. */
  previous: string | null;
  /** Journals were read as they were at this instant. */
  sealed_at: string;
  /** Every journal that was committed before this instant is in this seal or in an earlier one; null: more follow. */
  covers_until: string | null;
  /** How many journals. */
  journals: number;
  /** SHA-256 of the manifest. */
  manifest: string;
}

export const sealFormat = 1;

/** So many journals at most are in one seal: what is read in one snapshot, and held in memory, stays small. */
export const journalsPerSeal = 10_000;

/** SHA-256 of a seal's JWS; the next seal and the object's key name it. */
export const hashOfSeal = (jws: string): string => sha256(jws);

/** A journal in a seal: its id, and SHA-256 of its text. */
export interface SealedJournal {
  id: string;
  hash: string;
}

/** The line of a journal in its seal's manifest, which has them in the order of their ids. */
export const manifestLine = ({ id, hash }: SealedJournal): string => `${id} ${hash}\n`;

/** A cell of a row as canonical text; null is none, and is no empty text. */
export type Cell = string | null;

/**
 * A row as one line: a JSON array of its table's name and its cells. JSON quotes whatever would end a cell or a line, so
 * that no two rows are the same line.
 */
export const rowText = (table: string, cells: readonly Cell[]): string => `${JSON.stringify([table, ...cells])}\n`;

/** All seals of all databases that share the bucket. */
export const sealPrefix = 'seals/';

/** Where the object of a seal lies. Its content is named by the key: whoever puts it, and how often, puts the same. */
export const sealKey = ({ chain, number }: Pick<SealStatement, 'chain' | 'number'>, hash: string): string =>
  `${sealPrefix}${chain}/${String(number).padStart(12, '0')}-${hash}`;

/** The parts of such a key, or null. */
export function parseSealKey(key: string): { chain: string; number: number; hash: string } | null {
  const [, chain = '', number = '', hash = ''] = /^seals\/([^/]+)\/(\d{12})-([0-9a-f]{64})$/.exec(key) ?? [];
  return chain === '' ? null : { chain, number: Number(number), hash };
}

/** The object of a seal: its JWS on the first line, then its manifest. */
export const sealObject = (jws: string, manifest: string): string => `${jws}\n${manifest}`;

/** A seal with the most journals has less. */
export const maximumSealBytes = 4 * 1024 * 1024;

/** An object's two parts; what was no such object has parts that nothing agrees with. */
export function parseSealObject(text: string): { jws: string; manifest: string } {
  const end = text.indexOf('\n');
  return end < 0 ? { jws: text, manifest: '' } : { jws: text.slice(0, end), manifest: text.slice(end + 1) };
}

/** The journals of a manifest. */
export const parseManifest = (manifest: string): SealedJournal[] =>
  manifest
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ id: line.slice(0, 36), hash: line.slice(37) }));
