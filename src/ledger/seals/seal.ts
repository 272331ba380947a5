import { sha256 } from '../../shared/digest.ts';

/** Formats of seals: the statement, the hashed texts, and the key of the object. */

/** A seal's statement, signed and stored as the payload of a JWS. Instants are UTC with microseconds, as `…T…Z`. */
export interface SealStatement {
  /** The version of the journals' text format. */
  format: typeof sealFormat;
  /** The same for all seals of a database, because several databases may share a bucket. */
  chain: string;
  /** 1, 2, 3, … */
  number: number;
  /** The hash of the previous seal; null for the first. */
  previous: string | null;
  /** Journals were read as of this instant. */
  sealed_at: string;
  /** Every journal committed before this instant is in this seal or an earlier one; null when more seals follow. */
  covers_until: string | null;
  /** The number of journals. */
  journals: number;
  /** SHA-256 of the manifest. */
  manifest: string;
}

export const sealFormat = 1;

/** Maximum number of journals in a seal, which bounds what is read in one snapshot and held in memory. */
export const journalsPerSeal = 10_000;

/** Returns the SHA-256 of a seal's JWS, which the next seal and the object's key contain. */
export const hashOfSeal = (jws: string): string => sha256(jws);

/** A journal in a seal: its id, and the SHA-256 of its text. */
export interface SealedJournal {
  id: string;
  hash: string;
}

/** Returns a journal's line in its seal's manifest, which is ordered by id. */
export const manifestLine = ({ id, hash }: SealedJournal): string => `${id} ${hash}\n`;

/** A row's cell as canonical text; null means SQL null, not an empty text. */
export type Cell = string | null;

/**
 * Returns a row as one line: a JSON array of the table's name and the cells. JSON escapes quotes and line breaks, so
 * two different rows never give the same line.
 */
export const rowText = (table: string, cells: readonly Cell[]): string => `${JSON.stringify([table, ...cells])}\n`;

/** Prefix of all seals of all databases that share the bucket. */
export const sealPrefix = 'seals/';

/** Returns the key of a seal's object. The key determines the content, so every writer stores the same bytes. */
export const sealKey = ({ chain, number }: Pick<SealStatement, 'chain' | 'number'>, hash: string): string =>
  `${sealPrefix}${chain}/${String(number).padStart(12, '0')}-${hash}`;

/** Parses the key of a seal's object. Returns null for any other key. */
export function parseSealKey(key: string): { chain: string; number: number; hash: string } | null {
  const [, chain = '', number = '', hash = ''] = /^seals\/([^/]+)\/(\d{12})-([0-9a-f]{64})$/.exec(key) ?? [];
  return chain === '' ? null : { chain, number: Number(number), hash };
}

/** Returns the object of a seal: its JWS on the first line, then its manifest. */
export const sealObject = (jws: string, manifest: string): string => `${jws}\n${manifest}`;

/** More than the object of a seal with the maximum number of journals. */
export const maximumSealBytes = 4 * 1024 * 1024;

/** Splits an object into JWS and manifest. For anything else the parts match no seal. */
export function parseSealObject(text: string): { jws: string; manifest: string } {
  const end = text.indexOf('\n');
  return end < 0 ? { jws: text, manifest: '' } : { jws: text.slice(0, end), manifest: text.slice(end + 1) };
}

/** Parses the journals of a manifest. */
export const parseManifest = (manifest: string): SealedJournal[] =>
  manifest
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ id: line.slice(0, 36), hash: line.slice(37) }));
