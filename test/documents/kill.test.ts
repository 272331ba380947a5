import { readFileSync } from 'node:fs';
import { type BuiltUser, buildIndividual } from '../support/build.ts';
import {
  buildTransaction,
  filesOnDisk,
  keysOf,
  multipartUploads,
  nothing,
  upload,
  uploadOverWire,
  whatIsLeft,
} from '../support/documents.ts';
import { itInFull } from '../support/full.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';

interface Uploader {
  user: BuiltUser;
  product: string;
}

let stack: ProcessStack;
beforeAll(async () => {
  stack = await startProcessStack();
}, 90_000);
afterAll(() => stack.stop());

async function buildUploader(): Promise<Uploader> {
  const user = await buildIndividual(stack);
  return { user, product: await buildTransaction(stack, user) };
}
const left = ({ user }: Uploader) => whatIsLeft(stack, user);
const megabyte = 1024 * 1024;

/** Whether the upload of a user has a row, and whether its transaction holds it. */
async function rowOf({ user }: Uploader): Promise<{ isThere: boolean; isHeld: boolean }> {
  const [row] = await stack.owner().execute<[{ there: string; free: string }]>(
    `select (select count(*) from document_uploads where user_id = ?) as there,
       (select count(*) from (select from document_uploads where user_id = ? for update skip locked) unlocked) as free`,
    [user.id, user.id],
  );
  return { isThere: row.there === '1', isHeld: row.there === '1' && row.free === '0' };
}

/** Where an upload waits, the last point first, as it passes those before; and what shows that it is there. */
const points: [name: string, isThere: (uploader: Uploader) => Promise<boolean>][] = [
  ['after-commit', async (uploader) => (await left(uploader)).documents === 1],
  ['before-commit', async (uploader) => (await rowOf(uploader)).isHeld],
  ['after-put', async (uploader) => (await left(uploader)).objects === 1],
  ['before-put', async (uploader) => (await rowOf(uploader)).isThere],
];

describe('kill -9 of the API', () => {
  it('keeps of an upload both, object and document, or nothing: the next start sweeps the rest', async () => {
    const middle = await buildUploader();
    const held: Uploader[] = [];
    const ends: Promise<void>[] = [];
    for (const [, isThere] of points) {
      const uploader = await buildUploader();
      held.push(uploader);
      const armed = points.slice(0, held.length);
      stack.arm(armed.map(([name]) => `store-document.${name}=hold`).join());
      ends.push(expect(upload(stack, uploader.user, uploader.product)).rejects.toThrow());
      await eventually(() => isThere(uploader), Boolean);
    }
    const uploading = uploadOverWire(stack, middle.user, {
      productId: middle.product,
      sizeBytes: 49 * megabyte,
      stopAfterBytes: 20 * megabyte,
      stopBy: 'stall',
    });
    await eventually(async () => (await rowOf(middle)).isThere, Boolean);
    await stack.kill('api');
    await Promise.all(ends);
    expect((await uploading).status).toBeNull();

    const [kept, written, sent, unsent] = held as [Uploader, Uploader, Uploader, Uploader];
    const uploads = 3;
    expect(await left(middle)).toEqual({ ...nothing, uploads });
    expect((await multipartUploads(stack)) ?? []).toEqual([]);
    expect(await left(unsent)).toEqual({ ...nothing, uploads });
    for (const one of [sent, written]) expect(await left(one)).toEqual({ ...nothing, objects: 1, uploads });
    // Uploads of this age are not under way any more: four minutes pass in one statement.
    await stack.owner().execute("update document_uploads set created_at = created_at - interval '4 minutes'");
    await stack.restart();
    // It sweeps when it starts, and every half minute.
    await eventually(
      () => left(written),
      ({ uploads: waiting }) => waiting === 0,
      60_000,
    );
    for (const one of [middle, unsent, sent, written]) expect(await left(one)).toEqual(nothing);
    expect(await left(kept)).toEqual({ ...nothing, objects: 1, documents: 1 });
    const { body } = await stack.get('/v1/documents', { token: kept.user.token });
    expect([body.documents[0].url]).toEqual(await keysOf(stack, kept.user.id));
    await expectChecksEmpty(stack);
  }, 120_000);
});

describe('Memory', () => {
  const rssOf = (pid: number): number =>
    Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  const canMeasure = process.platform === 'linux' ? itInFull : it.skip;

  canMeasure(
    'of the API does not grow with what is uploaded: four files of 50 MB at once, again and again',
    async () => {
      const { user, product } = await buildUploader();
      // A process that has just started grows with the code that it loads.
      for (let warm = 0; warm < 20; warm += 1) await upload(stack, user, product);
      const idle = rssOf(stack.api.pid);
      let peak = idle;
      const timer = setInterval(() => {
        peak = Math.max(peak, rssOf(stack.api.pid));
      }, 20);
      const uploadFour = async () => {
        const uploads = Array.from({ length: 4 }, () =>
          uploadOverWire(stack, user, { productId: product, sizeBytes: 50 * megabyte }),
        );
        expect((await Promise.all(uploads)).map(({ status }) => status)).toEqual([201, 201, 201, 201]);
        return peak;
      };
      const first = await uploadFour();
      for (let round = 0; round < 5; round += 1) await uploadFour();
      clearInterval(timer);
      const [idleMb, firstMb, peakMb] = [idle, first, peak].map((value) => value.toFixed(0));
      process.stdout.write(
        `RSS of the API: ${idleMb} MB after twenty small uploads, at most ${firstMb} MB over the first four uploads of 50 MB at once, at most ${peakMb} MB over twenty more\n`,
      );
      // Buffers that wait for the collector move by tens of megabytes; files held whole would cost 200 MB a round.
      expect(first - idle).toBeLessThan(256);
      expect(peak - first).toBeLessThan(120);
      expect(filesOnDisk()).toEqual([]);
    },
    120_000,
  );
});
