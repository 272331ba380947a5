import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { writePrivateJson } from './private-file.ts';

/** Below the ephemeral ports of Linux and macOS. */
const firstPort = 20_000;
const lastPort = 29_999;
const attempts = 50;
/** Longer than any part takes to start listening. */
const reservedForMs = 120_000;

/** Whether a server could listen on the port now, on loopback and on every address. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await canListen(port, '127.0.0.1')) && (await canListen(port, undefined));
}

function canListen(port: number, host: string | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** Returns a free port, reserved among our processes on this machine while its server starts. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = randomInt(firstPort, lastPort + 1);
    if ((await reserve(port)) && (await isPortFree(port))) return port;
  }
  throw new Error(`No free port was found between ${firstPort} and ${lastPort}.`);
}

/**
 * Reserves the UDP port of the same number, on which no part listens. If two processes look for ports at once, the
 * system gives it to only one, and releases it when that process exits.
 */
async function reserve(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref();
  try {
    socket.bind({ port, address: '127.0.0.1', exclusive: true });
    await once(socket, 'listening');
  } catch {
    socket.close();
    return false;
  }
  setTimeout(() => socket.close(), reservedForMs).unref();
  return true;
}

export interface KeptPorts<Name extends string> {
  ports: Record<Name, number>;
  /** Messages about ports that changed because another program had taken them. */
  moved: string[];
}

/** Returns the ports of a data directory: chosen once and stored there, so that links survive a restart. */
export async function keepPorts<Name extends string>(
  dataDirectory: string,
  names: readonly Name[],
): Promise<KeptPorts<Name>> {
  const file = join(dataDirectory, 'ports.json');
  const kept = readPorts(file);
  const moved: string[] = [];
  const chosen = new Map<Name, number>();
  for (const name of names) {
    const before = kept[name];
    let port = before;
    if (port === undefined || !(await isPortFree(port))) {
      do port = await findFreePort();
      while ([...chosen.values(), ...Object.values(kept)].includes(port));
      if (before !== undefined) moved.push(`Port ${before} of ${name} is taken by another program; using ${port}.`);
    }
    chosen.set(name, port);
  }
  const ports = Object.fromEntries(chosen) as Record<Name, number>;
  writePrivateJson(file, { ...kept, ...ports });
  return { ports, moved };
}

function readPorts(file: string): Partial<Record<string, number>> {
  try {
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof content !== 'object' || content === null) return {};
    return Object.fromEntries(Object.entries(content).filter(([, port]) => Number.isInteger(port)));
  } catch {
    return {};
  }
}
