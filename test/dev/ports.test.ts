import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort, isPortFree, keepPorts } from '../../dev/ports.ts';

describe('Ports of the stack', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'ports-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  test('A port on which a process listens is not free', async () => {
    const port = await findFreePort();
    expect(await isPortFree(port)).toBe(true);
    const server = createServer().listen(port, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    expect(await isPortFree(port)).toBe(false);
    await new Promise((resolve) => server.close(resolve));
  });

  test('Two processes never find the same free port', async () => {
    const module = join(import.meta.dirname, '../../dev/ports.ts');
    const own = await Promise.all(Array.from({ length: 300 }, () => findFreePort()));
    expect(new Set(own).size).toBe(own.length);
    // The same number again: of 10,000 ports, 600 random ones would almost surely include a duplicate.
    const script = `
      import { findFreePort } from ${JSON.stringify(module)};
      const found = [];
      for (let count = 0; count < 300; count += 1) found.push(await findFreePort());
      console.log(JSON.stringify(found));`;
    const other: number[] = JSON.parse(
      execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], { encoding: 'utf8' }),
    );
    expect(other).toHaveLength(300);
    expect(other.filter((port) => own.includes(port))).toEqual([]);
  });

  test('Ports are stored in the data directory; one that another program uses is replaced and reported', async () => {
    const first = await keepPorts(directory, ['postgres', 's3']);
    expect(first.moved).toEqual([]);
    expect(await keepPorts(directory, ['postgres', 's3'])).toEqual(first);
    const server = createServer().listen(first.ports.s3, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const second = await keepPorts(directory, ['postgres', 's3']);
    expect(second.ports.postgres).toBe(first.ports.postgres);
    expect(second.ports.s3).not.toBe(first.ports.s3);
    expect(second.moved).toEqual([expect.stringContaining(String(first.ports.s3))]);
    await new Promise((resolve) => server.close(resolve));
  });
});
