import { readdirSync, readFileSync } from 'node:fs';
import type { Part } from '../dev/part.ts';

/** The resources a part has used. */
export interface Usage {
  /** CPU time in milliseconds of all its processes since they started, including exited ones. */
  cpuMs: number;
  /** Resident memory in MB of all its running processes; shared memory counts for each. */
  megabytes: number;
  /** The peak resident memory in MB of its main process. */
  peakMegabytes: number;
}

/** The kernel counts CPU time in hundredths of a second, regardless of its own clock rate. */
const tickMs = 10;
const notReported: Usage = { cpuMs: Number.NaN, megabytes: Number.NaN, peakMegabytes: Number.NaN };

interface Process {
  pid: number;
  parent: number;
  cpuMs: number;
}

/** Every process of this machine; null where the system has no `/proc`. */
function readProcesses(): Process[] | null {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => readProcess(Number(name)) ?? []);
  } catch {
    return null;
  }
}

/** Null if the process has exited. */
function readProcess(pid: number): Process | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may itself contain parentheses and spaces.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [parent, ticks] = [fields[1], fields.slice(11, 15)];
    return { pid, parent: Number(parent), cpuMs: ticks.reduce((total, each) => total + Number(each), 0) * tickMs };
  } catch {
    return null;
  }
}

function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** A part's usage so far: its process, a foreign process inside it, and their children. NaN without `/proc`. */
export function readUsage({ pid, inner = pid }: Pick<Part, 'pid' | 'inner'>): Usage {
  const processes = readProcesses();
  if (processes === null) return notReported;
  const own = new Set([pid, inner]);
  for (let size = 0; size !== own.size; ) {
    size = own.size;
    for (const process of processes) if (own.has(process.parent)) own.add(process.pid);
  }
  const counted = processes.filter((process) => own.has(process.pid));
  return {
    cpuMs: counted.reduce((total, process) => total + process.cpuMs, 0),
    megabytes: Math.round(counted.reduce((total, process) => total + memoryOf(process.pid, 'VmRSS'), 0)),
    peakMegabytes: Math.round(memoryOf(inner, 'VmHWM')),
  };
}

/** The CPU time in milliseconds that each part uses from now until the returned function is called. */
export function countCpu<Name extends string>(parts: Record<Name, Part>): () => Record<Name, number> {
  const read = () => {
    const entries = Object.entries<Part>(parts).map(([name, part]) => [name, readUsage(part).cpuMs]);
    return Object.fromEntries(entries) as Record<Name, number>;
  };
  const before = read();
  return () => {
    const after = read();
    for (const name of Object.keys(before) as Name[]) after[name] -= before[name];
    return after;
  };
}
