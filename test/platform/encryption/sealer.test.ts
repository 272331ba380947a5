import { randomBytes } from 'node:crypto';
import { compactDecrypt } from 'jose';
import { createSealer } from '../../../src/platform/encryption/sealer.ts';

const key = (id: string) => ({ id, key: new Uint8Array(randomBytes(32)) });
const place = { table: 'addresses', column: 'details_sealed', row: '1' };

describe('Encrypted values', () => {
  const sealer = createSealer([key('one')]);

  it('An encrypted value decrypts in its place, and is a different text each time', async () => {
    const [first, second] = [await sealer.seal(place, 'Bandung'), await sealer.seal(place, 'Bandung')];
    expect(first).not.toBe(second);
    expect([await sealer.open(place, first), await sealer.open(place, second)]).toEqual(['Bandung', 'Bandung']);
  });

  it('An encrypted value is a standard JWE', async () => {
    const own = key('two');
    const { plaintext } = await compactDecrypt(await createSealer([own]).seal(place, 'Bandung'), own.key);
    expect(Buffer.from(plaintext).toString()).toBe('Bandung');
  });

  it.each([
    ['row', { ...place, row: '2' }],
    ['column', { ...place, column: 'label' }],
    ['table', { ...place, table: 'documents' }],
  ])('An encrypted value moved to another %s is refused', async (_, elsewhere) => {
    await expect(sealer.open(elsewhere, await sealer.seal(place, 'Bandung'))).rejects.toThrow('another place');
  });

  it('An encrypted value with a rewritten place, a changed byte or a missing end is refused', async () => {
    const sealed = await sealer.seal(place, 'Bandung');
    const [head = '', ...rest] = sealed.split('.');
    const header = JSON.parse(Buffer.from(head, 'base64url').toString());
    const forged = Buffer.from(JSON.stringify({ ...header, row: '2' })).toString('base64url');
    await expect(sealer.open({ ...place, row: '2' }, [forged, ...rest].join('.'))).rejects.toThrow();
    const at = sealed.length - 30;
    const changed = `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`;
    for (const broken of [changed, sealed.slice(0, -4), 'nonsense', '']) {
      await expect(sealer.open(place, broken)).rejects.toThrow();
    }
  });

  it('An encrypted value reveals nothing without the key', async () => {
    const sealed = await sealer.seal(place, 'Bandung');
    const readable = sealed.split('.').map((part) => Buffer.from(part, 'base64url').toString('latin1'));
    expect(readable.join()).not.toContain('Bandung');
    await expect(createSealer([key('one')]).open(place, sealed)).rejects.toThrow();
  });
});

describe('Several live keys', () => {
  it('Several live keys each decrypt what they encrypted; the first one encrypts', async () => {
    const [old, fresh] = [key('old'), key('fresh')];
    const sealed = await createSealer([old]).seal(place, 'Bandung');
    const both = createSealer([fresh, old]);
    expect(await both.open(place, sealed)).toBe('Bandung');
    expect(await createSealer([fresh]).open(place, await both.seal(place, 'Bogor'))).toBe('Bogor');
    await expect(createSealer([fresh]).open(place, sealed)).rejects.toThrow('old');
  });
});
