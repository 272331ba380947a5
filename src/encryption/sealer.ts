import { CompactEncrypt, compactDecrypt } from 'jose';
import { must } from '../shared/assert.ts';

/** Where a sealed value is stored; bound into the ciphertext, so that a value moved elsewhere does not open. */
export interface Place {
  table: string;
  column: string;
  row: string;
}

export interface Sealer {
  /** Encrypts a text for one table, column and row with the newest key. */
  seal(place: Place, plain: string): Promise<string>;
  /** Decrypts what was sealed for exactly this place, with whichever live key sealed it. Throws on anything else. */
  open(place: Place, sealed: string): Promise<string>;
}

/**
 * Encryption at rest (docs/contract.md 7): JWE `dir` with A256GCM and a random nonce; key id, table, column and row are
 * in the protected header, which the cipher authenticates. `keys` are the live keys, newest first.
 */
export function createSealer(keys: readonly { id: string; key: Uint8Array }[]): Sealer {
  const newest = must(keys[0], 'there is an encryption key');
  const byId = new Map(keys.map(({ id, key }) => [id, key]));
  return {
    seal: ({ table, column, row }, plain) =>
      new CompactEncrypt(new TextEncoder().encode(plain))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: newest.id, tbl: table, col: column, row })
        .encrypt(newest.key),
    async open({ table, column, row }, sealed) {
      const { plaintext, protectedHeader } = await compactDecrypt(
        sealed,
        (header) => must(byId.get(header.kid ?? ''), `encryption key ${header.kid} is configured`),
        { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] },
      );
      if (protectedHeader.tbl !== table || protectedHeader.col !== column || protectedHeader.row !== row) {
        throw new Error(`a value sealed for another place was found in ${table}.${column}`);
      }
      return new TextDecoder().decode(plaintext);
    },
  };
}
