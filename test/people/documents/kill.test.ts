import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type BuiltUser, buildIndividual } from '../../support/build.ts';
import {
  buildTransaction,
  filesOnDisk,
  keysOf,
  multipartUploads,
  nothing,
  upload,
  uploadOverWire,
  whatIsLeft,
} from '../../support/documents.ts';
import { itInFull } from '../../support/full.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';

const rounds = isFullRun() ? 5 : 1;

let stack: ProcessStack;
let user: BuiltUser;
let product: string;
beforeAll(async () => {
  stack = await startProcessStack();
}, 90_000);
afterAll(() => stack.stop());
beforeEach(async () => {
  await stack.restart();
  user = await buildIndividual(stack);
  product = await buildTransaction(stack, user);
});

const left = () => whatIsLeft(stack, user);
const megabyte = 1024 * 1024;

describe('An API killed with SIGKILL', () => {
  it('An upload interrupted by SIGKILL leaves nothing in storage, in the database or on disk', async () => {
    const uploading = uploadOverWire(stack, user, {
      productId: product,
      sizeBytes: 49 * megabyte,
      stopAfterBytes: 20 * megabyte,
      stopBy: 'stall',
    });
    await delay(700);
    await stack.kill('api');
    expect((await uploading).status).toBeNull();
    expect(await left()).toEqual(nothing);
    expect((await multipartUploads(stack)) ?? []).toEqual([]);
  });

  it('A committed document survives SIGKILL with its object; the next start sweeps uncommitted uploads', async () => {
    const answers: Promise<void>[] = [];
    for (const point of [
      'store-document.after-commit',
      'store-document.before-commit',
      'store-document.after-put',
      'store-document.before-put',
    ]) {
      await stack.holdAt(point, () => answers.push(expect(upload(stack, user, product)).rejects.toThrow()));
    }
    await stack.kill('api');
    await Promise.all(answers);
    const one = { ...nothing, objects: 1, documents: 1 };
    await eventually(left, ({ documents }) => documents === 1);
    expect(await left()).toEqual({ ...one, objects: 3, uploads: 3 });
    // Makes the uploads old enough to be no longer in progress.
    await stack.owner().execute("update document_uploads set created_at = created_at - interval '4 minutes'");
    await stack.restart();
    // The API sweeps when it starts, and every half minute.
    await eventually(left, ({ uploads }) => uploads === 0, 60_000);
    expect(await left()).toEqual(one);
    const { body } = await stack.get('/v1/documents', { token: user.token });
    expect([body.documents[0].url]).toEqual(await keysOf(stack, user.id));
    await expectChecksEmpty(stack);
  }, 120_000);
});

describe('Memory', () => {
  const rssOf = (pid: number): number =>
    Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  const canMeasure = process.platform === 'linux' ? itInFull : it.skip;

  canMeasure(
    'The API’s memory does not grow with repeated rounds of four concurrent uploads of 50 MB',
    async () => {
      // A new process first grows by the code that it loads.
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
      for (let round = 0; round < rounds; round += 1) await uploadFour();
      clearInterval(timer);
      const [idleMb, firstMb, peakMb] = [idle, first, peak].map((value) => value.toFixed(0));
      process.stdout.write(
        `RSS of the API: ${idleMb} MB after twenty small uploads, at most ${firstMb} MB over the first four uploads of 50 MB at once, at most ${peakMb} MB over ${4 * rounds} more\n`,
      );
      // Uncollected buffers vary by tens of megabytes; files held in memory would cost 200 MB a round.
      expect(first - idle).toBeLessThan(256);
      expect(peak - first).toBeLessThan(120);
      expect(filesOnDisk()).toEqual([]);
    },
    120_000,
  );
});
