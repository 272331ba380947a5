import { z } from 'zod';
import { sha256 } from '../../shared/digest.ts';

/** Maximum rows per part. */
export const rowsPerPart = 10_000;
/** The maximum size of a part or manifest; larger objects are rejected. */
export const maximumObjectBytes = 256 * 1024 * 1024;

const digest = z.string().regex(/^[0-9a-f]{64}$/);

/** One part of an archived month: gzipped JSON lines, ordered by id. */
const Part = z.strictObject({
  key: z.string(),
  rows: z.int().min(1),
  /** The digest of the stored object. */
  sha256: digest,
  /** The digest of the uncompressed lines, which another gzip version may compress differently. */
  lines_sha256: digest,
});
export type ArchivedPart = z.infer<typeof Part>;

/** Describes an archived month well enough to restore it without its original database. */
const Manifest = z.strictObject({
  format: z.literal(1),
  table: z.string().regex(/^[a-z_]+$/),
  /** `YYYY-MM`, of UTC. */
  month: z.string().regex(/^\d{4}-\d{2}$/),
  columns: z.array(z.string()).min(1),
  rows: z.int().min(0),
  parts: z.array(Part),
});
export type Manifest = z.infer<typeof Manifest>;

const prefixOf = (table: string, month: string): string => `archive/${table}/${month}/`;

/** Returns the key of a part. The name is derived from the content, so no object ever overwrites another. */
export const partKey = (table: string, month: string, number: number, sha256Hex: string): string =>
  `${prefixOf(table, month)}${String(number).padStart(6, '0')}-${sha256Hex.slice(0, 16)}.jsonl.gz`;

/** Returns a manifest as a storable object, with its key. */
export function manifestObject(manifest: Manifest): { key: string; content: Buffer; sha256: string } {
  const content = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  const hash = sha256(content);
  return {
    key: `${prefixOf(manifest.table, manifest.month)}manifest-${hash.slice(0, 16)}.json`,
    content,
    sha256: hash,
  };
}

/** Reads a manifest. Throws if the content is not a manifest. */
export const parseManifest = (content: Buffer): Manifest => Manifest.parse(JSON.parse(content.toString()));

/** Whether the text is a month, `YYYY-MM`. */
export const isMonth = (text: string): boolean => /^20\d{2}-(0[1-9]|1[0-2])$/.test(text);

/** The first day of a month, `YYYY-MM-DD`. */
export const firstDayOf = (month: string): string => `${month}-01`;

/** The name of the partition of a month, in the schema `months`. */
export const partitionOf = (table: string, month: string): string => `${table}_${month.replace('-', '_')}`;
