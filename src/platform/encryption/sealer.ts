import { createCipheriv, createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { type CompactJWEHeaderParameters, compactDecrypt, decodeProtectedHeader } from 'jose';
import { must } from '../../shared/assert.ts';
import { type PersonalKeys, unlessErased } from './personal-keys.ts';

/** The place of a sealed value, bound into the ciphertext, so that a value moved elsewhere cannot be decrypted. */
export interface Place {
  table: string;
  column: string;
  row: string;
  /**
   * The id of the person whose key seals the value; without that key it is permanently lost. `isNew` creates the key;
   * anybody else's must exist, as a replacement could not open their other data.
   */
  person?: { id: string; isNew?: true } | null;
  /**
   * The id of the partner's payment, payout or refund whose key seals the value, which names its customer or
   * beneficiary. `isNew` creates the key. Once it is gone, later values are sealed under the newest encryption key, as
   * they no longer name anybody.
   */
  order?: { id: string; isNew?: true } | null;
}

export interface Sealer {
  /**
   * Encrypts a text for one table, column and row: with the key of the person or the order that the place names, otherwise
   * with the newest encryption key. Throws KeysAway, KeyMissing for a person who is not new and has no key, and KeyErased
   * when that key was destroyed.
   */
  seal(place: Place, plain: string): Promise<string>;
  /**
   * Decrypts a value sealed for exactly this place, with the key that sealed it. Throws KeyErased if that key was
   * destroyed, KeysAway if it cannot be reached, and an error for any other value.
   */
  open(place: Place, sealed: string): Promise<string>;
  /**
   * Returns the digest by which a sealed text is looked up: HMAC-SHA256 in hex under a separate key. Throws KeysAway.
   */
  digest(text: string): Promise<string>;
}

/** The prefixes of key ids of people and orders; ids of encryption keys have no colon. */
const ofPerson = 'person:';
const ofOrder = 'order:';

/** The protected header of a sealed value. */
interface Header {
  alg: 'dir';
  enc: 'A256GCM';
  kid: string;
  tbl: string;
  col: string;
  row: string;
}

/** Returns the key id of a sealed value or of its header alone; null if it has none. */
export function keyIdOf(sealed: string): string | null {
  try {
    return decodeProtectedHeader(`${sealed.split('.', 1)[0]}....`).kid ?? null;
  } catch {
    return null;
  }
}

/** In bytes, as in A256GCM; its nonces have 12. */
const authTagLength = 16;

const keyObjects = new WeakMap<Uint8Array, KeyObject>();

/** Returns a cached key object: importing raw bytes takes most of a cipher's time. */
function keyObjectOf(key: Uint8Array): KeyObject {
  const made = keyObjects.get(key) ?? createSecretKey(key);
  keyObjects.set(key, made);
  return made;
}

/**
 * Encrypts a text as compact JWE with one cipher call: a batch has a thousand texts, and jose takes five times as long.
 */
function encrypt(header: Header, key: Uint8Array, plain: string): string {
  const head = Buffer.from(JSON.stringify(header)).toString('base64url');
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyObjectOf(key), nonce, { authTagLength }).setAAD(Buffer.from(head));
  const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return [head, '', ...[nonce, text, cipher.getAuthTag()].map((part) => part.toString('base64url'))].join('.');
}

/** Whether re-encryption skips a value with this key id, as its person's or order's key is re-encrypted instead. */
export const isUnderOwnKey = (keyId: string): boolean => keyId.startsWith(ofPerson) || isUnderOrderKey(keyId);

/** Whether a value with this key id was sealed under the key of a partner's payment, payout or refund. */
export const isUnderOrderKey = (keyId: string): boolean => keyId.startsWith(ofOrder);

/**
 * Encryption at rest (docs/contract.md 7): JWE `dir` with A256GCM and a random nonce; key id, table, column and row are
 * in the protected header, which the cipher authenticates. `keys` are the live keys, newest first. Without personal
 * keys, people's data can be neither sealed nor opened.
 */
export function createSealer(
  keys: readonly { id: string; key: Uint8Array }[],
  personalKeys: PersonalKeys | null = null,
): Sealer {
  const newest = must(keys[0], 'there is an encryption key');
  const byId = new Map(keys.map(({ id, key }) => [id, key]));
  const ofPeople = (): PersonalKeys => must(personalKeys, 'personal keys are configured');
  const keyOf = ({ kid = '' }: CompactJWEHeaderParameters): Uint8Array | Promise<Uint8Array> => {
    if (kid.startsWith(ofPerson)) return ofPeople().find(kid.slice(ofPerson.length));
    if (kid.startsWith(ofOrder)) return ofPeople().orders.find(kid.slice(ofOrder.length));
    return must(byId.get(kid), `encryption key ${kid} is configured`);
  };
  const keyOfOrder = ({ id, isNew }: NonNullable<Place['order']>): Promise<Uint8Array | null> =>
    isNew ? ofPeople().orders.make(id) : unlessErased(ofPeople().orders.find(id));
  const keyOfPerson = ({ id, isNew }: NonNullable<Place['person']>): Promise<Uint8Array> =>
    isNew ? ofPeople().make(id) : ofPeople().find(id);
  const keyToSeal = async ({ person, order }: Place): Promise<{ id: string; key: Uint8Array }> => {
    if (person) return { id: `${ofPerson}${person.id}`, key: await keyOfPerson(person) };
    const key = order ? await keyOfOrder(order) : null;
    return order && key ? { id: `${ofOrder}${order.id}`, key } : newest;
  };
  return {
    async seal(place, plain) {
      const { table, column, row } = place;
      const { id: kid, key } = await keyToSeal(place);
      return encrypt({ alg: 'dir', enc: 'A256GCM', kid, tbl: table, col: column, row }, key, plain);
    },
    async open({ table, column, row }, sealed) {
      const { plaintext, protectedHeader } = await compactDecrypt(sealed, keyOf, {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
      });
      if (protectedHeader.tbl !== table || protectedHeader.col !== column || protectedHeader.row !== row) {
        throw new Error(`a value sealed for another place was found in ${table}.${column}`);
      }
      return new TextDecoder().decode(plaintext);
    },
    async digest(text) {
      return createHmac('sha256', await ofPeople().lookUpKey())
        .update(text)
        .digest('hex');
    },
  };
}
