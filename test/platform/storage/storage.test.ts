import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { openStorage, type Storage } from '../../../src/platform/storage/storage.ts';
import { newId } from '../../../src/shared/ids.ts';
import { keysOf, multipartUploads } from '../../support/documents.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let storage: Storage;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, env: { LOG_LEVEL: 'silent' } });
  storage = stack.deps.storage;
});
afterAll(() => stack.stop());

const content = randomBytes(3_000_000);
const object = { contentType: 'image/png', sizeBytes: content.length, sha256: 'ab'.repeat(32) };
const newKey = () => `documents/${newId()}/${newId()}`;
const body = (bytes = content) => Readable.from([bytes.subarray(0, 1_000_000), bytes.subarray(1_000_000)]);
const spaceOf = (key: string) => key.split('/')[1] ?? '';

describe('Storage', () => {
  it('Storage saves an object with its type, size and digest', async () => {
    const key = newKey();
    await storage.put(key, object, body());
    expect(await storage.find(key)).toEqual(object);
    await storage.ping();
  });

  it('Storage uses the credentials of the SDK’s own variables if none are configured', async () => {
    const { S3_ACCESS_KEY_ID: id, S3_SECRET_ACCESS_KEY: secret, ...config } = stack.deps.config;
    const before = { ...process.env };
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret });
    const keyless = openStorage({ ...config, S3_ACCESS_KEY_ID: undefined, S3_SECRET_ACCESS_KEY: undefined });
    try {
      const key = newKey();
      await keyless.put(key, object, body());
      expect(await storage.find(key)).toEqual(object);
    } finally {
      keyless.close();
      process.env = before;
    }
  });

  it('Storage finds nothing under a missing key', async () => {
    expect(await storage.find(newKey())).toBeNull();
  });

  it('Storage reads an object, a long one only up to a limit, and returns null when there is none', async () => {
    const key = newKey();
    await storage.put(key, object, body());
    expect((await storage.read(key, content.length))?.equals(content)).toBe(true);
    expect((await storage.read(key, content.length + 1))?.length).toBe(content.length);
    expect((await storage.read(key, 70_000))?.equals(content.subarray(0, 70_000))).toBe(true);
    expect(await storage.read(newKey(), 10)).toBeNull();
  });

  it('Storage lists every key with a prefix, in order, page after page', async () => {
    const prefix = `documents/${newId()}/`;
    // A page has a thousand keys.
    const keys = Array.from(
      { length: isFullRun() ? 1003 : 23 },
      (_, index) => `${prefix}${String(index).padStart(5, '0')}`,
    );
    const small = { ...object, sizeBytes: 1 };
    for (let start = 0; start < keys.length; start += 50) {
      const some = keys.slice(start, start + 50);
      await Promise.all(some.map((key) => storage.put(key, small, Readable.from([Buffer.from('x')]))));
    }
    const listed = [];
    for await (const key of storage.list(prefix)) listed.push(key);
    expect(listed).toEqual(keys);
  }, 60_000);

  it('Storage removes an object, and ignores a missing one', async () => {
    const key = newKey();
    await storage.put(key, object, body());
    await storage.remove(key);
    await storage.remove(key);
    expect(await storage.find(key)).toBeNull();
  });

  it('Storage rejects a truncated body without leaving a multipart upload; what it stored can be removed', async () => {
    const key = newKey();
    async function* broken() {
      yield content.subarray(0, 1_000_000);
      await delay(50);
      throw new Error('the disk is gone');
    }
    await expect(storage.put(key, object, Readable.from(broken(), { objectMode: false }))).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
    expect((await multipartUploads(stack)) ?? []).not.toContain(key);
    await eventually(
      async () => {
        await storage.remove(key);
        return keysOf(stack, spaceOf(key));
      },
      (keys) => keys.length === 0,
    );
  });

  it('Storage signs a URL that serves the object as an attachment until it expires', async () => {
    const key = newKey();
    await storage.put(key, object, body());
    const sign = (lifetimeSeconds: number) => storage.signViewUrl(key, { fileName: 'a.png', lifetimeSeconds });
    const [url, short] = [await sign(60), await sign(1)];
    const answer = await fetch(url);
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('content-disposition')]).toEqual([
      200,
      'image/png',
      'attachment; filename="a.png"',
    ]);
    expect(Buffer.from(await answer.arrayBuffer()).equals(content)).toBe(true);
    await eventually(
      async () => (await fetch(short)).status,
      (status) => status === 403,
    );
  });

  it('Storage signs URLs for the public endpoint, which browsers use', async () => {
    const key = newKey();
    await storage.put(key, object, body());
    const reached = new URL(stack.deps.config.S3_ENDPOINT);
    reached.hostname = 'localhost';
    const other = openStorage({ ...stack.deps.config, S3_PUBLIC_ENDPOINT: reached.href });
    const url = await other.signViewUrl(key, { fileName: 'a.png', lifetimeSeconds: 60 });
    expect(new URL(url).host).toBe(reached.host);
    expect((await fetch(url)).status).toBe(200);
    other.close();
  });

  it.each([
    [
      'another key',
      (url: URL, other: string) =>
        new URL(url.href.replace(url.pathname.slice(1).split('/').slice(1).join('/'), other)),
    ],
    [
      'another name',
      (url: URL) => {
        const bent = new URL(url);
        bent.searchParams.set('response-content-disposition', 'inline');
        return bent;
      },
    ],
    [
      'a longer lifetime',
      (url: URL) => {
        const bent = new URL(url);
        bent.searchParams.set('X-Amz-Expires', '604800');
        return bent;
      },
    ],
  ])('Storage refuses a URL that was altered to %s', async (_, bend) => {
    const [key, other] = [newKey(), newKey()];
    await Promise.all([storage.put(key, object, body()), storage.put(other, object, body())]);
    const url = new URL(await storage.signViewUrl(key, { fileName: 'a.png', lifetimeSeconds: 60 }));
    const bent = bend(url, other);
    expect(bent.href).not.toBe(url.href);
    expect((await fetch(bent)).status).toBe(403);
  });

  it('Storage refuses requests without a signature', async () => {
    const key = newKey();
    await storage.put(key, object, body());
    const { status } = await fetch(`${stack.env.S3_ENDPOINT}/${stack.env.S3_BUCKET}/${key}`);
    expect(status).toBe(403);
  });
});
