import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort, isPortFree, keepPorts } from '../../dev/ports.ts';

describe('ports of the stack', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'ports-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  test('a port on which somebody listens is not free', async () => {
    const port = await findFreePort();
    expect(await isPortFree(port)).toBe(true);
    const server = createServer().listen(port, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    expect(await isPortFree(port)).toBe(false);
    await new Promise((resolve) => server.close(resolve));
  });

  test('ports are kept in the data directory, and moved with a sentence when another program took one', async () => {
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
