import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HttpAnswer } from '../support/http.ts';
import { freshKey } from '../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { isFullRun } from '../support/run.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';
import { mountSmallDisk, type SmallDisk } from '../torture/small-disk.ts';
import { askFor, balanceWays, expectOneUnder, readPaid, wholly } from './balance-ways.ts';

/** Takes the cluster, and what is written before the disk is full. */
const megabytes = 512;

const directory = mkdtempSync(join(tmpdir(), 'amanah-small-disk-'));
const disk: SmallDisk | null = isFullRun() ? mountSmallDisk(directory, megabytes) : null;
/** Who runs the tests where no small disk can be mounted says that they know. */
const isGivenUp = disk === null && process.env.AMANAH_WITHOUT_FULL_DISK === '1';
if (isFullRun() && isGivenUp) process.stderr.write('A full disk is not tested: none can be mounted here.\n');

let stack: ProcessStack | undefined;
afterAll(async () => {
  await stack?.stop();
  disk?.unmount();
  rmSync(directory, { recursive: true, force: true });
}, 60_000);

const ways = Object.values(balanceWays);
const mayBeRetried = ({ status, headers }: HttpAnswer) => status === 503 && headers.has('retry-after');

(isFullRun() && !isGivenUp ? describe : describe.skip)('With the disk of PostgreSQL full,', () => {
  it('requests are answered 503 and no process ends; with room again each is made once under its key', async () => {
    if (disk === null)
      throw new Error('no small disk can be mounted here; AMANAH_WITHOUT_FULL_DISK=1 leaves out what needs one');
    const running = await startProcessStack({ ownPostgres: { directory: join(directory, 'cluster') } });
    stack = running;
    const pids = [running.api.pid, running.worker.pid];
    const requests = [];
    for (const way of [...ways, ...ways]) requests.push({ request: await way.build(running), key: freshKey() });
    const [transfer] = ways;
    const small = await transfer?.build(running);
    if (small === undefined) throw new Error('there is a way to pay');
    disk.fill();
    // What has room in pages that are there still succeeds; some table needs another one soon.
    const told = await eventually(
      () => askFor(running, small, freshKey(), { amount: '1' }),
      ({ status }) => status !== 201,
      240_000,
    );
    expect(mayBeRetried(told)).toBe(true);
    for (const { request, key } of requests) {
      const answer = await askFor(running, request, key);
      if (answer.status === 201) expect(await readPaid(running, request)).toEqual(wholly);
      else expect(mayBeRetried(answer)).toBe(true);
    }
    disk.free();
    await running.startPostgresAgain();
    await eventually(
      () => running.get('/readyz'),
      ({ status }) => status === 200,
    );
    for (const { request, key } of requests) await expectOneUnder(running, key, request);
    expect([running.api.isRunning(), running.worker.isRunning()]).toEqual([true, true]);
    expect([running.api.pid, running.worker.pid]).toEqual(pids);
    await expectChecksEmpty(running);
  }, 600_000);
});
