import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createPersonalKeys } from '../../../src/platform/encryption/personal-keys.ts';
import { createSealer } from '../../../src/platform/encryption/sealer.ts';
import { newId } from '../../../src/shared/ids.ts';
import { type BuiltUser, buildIndividual } from '../../support/build.ts';
import { type Stack, startStack } from '../../support/stack.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const [fresh, old] = ['fresh', 'old'].map((id) => ({ id, key: new Uint8Array(randomBytes(32)) }));
const variable = [fresh, old].map((key) => `${key?.id}:${Buffer.from(key?.key ?? '').toString('base64')}`).join(',');
if (!fresh || !old) throw new Error('there are two keys');

const count = 1200;
const kept = { table: 'official_documents', column: 'details_sealed' };

let stack: Stack;
let user: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ own: true, env: { DATA_ENCRYPTION_KEYS: variable } });
  user = await buildIndividual(stack);
}, 60_000);
afterAll(() => stack.stop());

async function plant(): Promise<void> {
  const sealer = createSealer([old as NonNullable<typeof old>]);
  const rows = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const details = JSON.stringify({ number: `number ${index + 1}`, name_on_document: 'Planted' });
      return { id: index + 1, sealed: await sealer.seal({ ...kept, row: String(index + 1) }, details) };
    }),
  );
  await stack.owner().execute(
    `insert into official_documents (id, user_id, kind, details_sealed, verification_status)
     select id, ?, 'passport', sealed, 'pending' from json_to_recordset(?::json) as planted(id bigint, sealed text)`,
    [user.id, JSON.stringify(rows)],
  );
  await stack.owner().execute("select setval('official_document_ids', ?)", [count]);
}

/** Runs the command as an operator does. */
async function reencrypt(env: Record<string, string> = {}): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [join(root, 'src', 'wiring', 'commands', 'keys-reencrypt.ts')], {
    env: { ...stack.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said };
}

/** The number of documents under the encryption key with this id, or under people's own keys (`person`). */
const withKey = async (id: string): Promise<number> => {
  const rows = await stack.em().execute<{ details_sealed: string }[]>('select details_sealed from official_documents');
  const kidOf = (sealed: string) => JSON.parse(Buffer.from(sealed.split('.')[0] ?? '', 'base64url').toString()).kid;
  return rows.filter(({ details_sealed }) => kidOf(details_sealed).split(':')[0] === id).length;
};

describe('npm run keys:reencrypt', () => {
  it('keys:reencrypt continues after a kill, while the API is in use, until the new key decrypts all', async () => {
    await plant();
    const killed = await reencrypt({ FAILPOINTS: 'reencrypt.after-batch=kill' });
    expect(killed.code).toBeNull();

    let serving = true;
    const refused: number[] = [];
    let served = 0;
    const serve = async (): Promise<void> => {
      while (serving) {
        const id = 1 + Math.floor(Math.random() * count);
        const path = `/v1/official-documents/${id}`;
        const answers = [
          await stack.get(path, { token: user.token }),
          await stack.patch(path, { name_on_document: `Written ${newId()}` }, { token: user.token }),
        ];
        served += answers.length;
        refused.push(...answers.map(({ status }) => status).filter((status) => status !== 200));
      }
    };
    const visitors = [serve(), serve()];
    const { code, said } = await reencrypt();
    serving = false;
    await Promise.all(visitors);
    expect({ code, said }).toEqual({
      code: 0,
      said: expect.stringMatching(/\[#+-*\] \d+\/\d+ [\s\S]*encrypted with the key fresh/),
    });
    expect([refused, served > 0]).toEqual([[], true]);
    // What was written during the rotation is under its owner's key.
    expect([(await withKey('fresh')) + (await withKey('person')), await withKey('old')]).toEqual([count, 0]);

    const live = [fresh as NonNullable<typeof fresh>];
    const alone = createSealer(
      live,
      createPersonalKeys(stack.deps.keysOrm, createSealer(live), async () => undefined),
    );
    const rows = await stack
      .em()
      .execute<{ id: string; details_sealed: string }[]>('select id, details_sealed from official_documents');
    for (const { id, details_sealed } of rows) {
      const { number } = JSON.parse(await alone.open({ ...kept, row: id }, details_sealed));
      expect(number).toBe(`number ${id}`);
    }
  }, 120_000);

  it('keys:reencrypt names values that no configured key decrypts, and exits with an error', async () => {
    const lost = createSealer([{ id: 'lost', key: new Uint8Array(randomBytes(32)) }]);
    const sealed = await lost.seal({ ...kept, row: '7' }, 'gone');
    await stack.owner().execute('update official_documents set details_sealed = ? where id = 7', [sealed]);
    const { code, said } = await reencrypt();
    expect([code, said]).toEqual([2, expect.stringContaining('official_documents.details_sealed 7')]);
    await stack.owner().execute('delete from official_documents where id = 7');
  });
});
