import {
  apiNames,
  type DiskName,
  diskNames,
  type LinkName,
  linkNames,
  type PartName,
  partNames,
  type ServiceName,
  serviceNames,
  workerNames,
} from './parts.ts';
import type { Random } from './random.ts';

/** Faults of the provider and of its callbacks. */
export type ProviderTrouble = 'slow' | 'failing' | 'hanging-before' | 'hanging-after' | 'busy' | 'listing-late';
export type CallbackTrouble = 'lost' | 'repeated' | 'shuffled' | 'late';
export type Forgery = 'reference' | 'amount' | 'status' | 'unpaid' | 'unknown';
export type NetworkTrouble =
  | { kind: 'delay'; ms: number }
  | { kind: 'black-hole' }
  | { kind: 'refuse' }
  | { kind: 'truncate'; bytes: number }
  | { kind: 'cut-after'; text: string }
  | { kind: 'cut-before'; text: string };

export type FaultAction =
  /** kill -9 of all of them at once; they are restarted after a while. */
  | { do: 'kill'; parts: PartName[]; forMs: number }
  /** kill -9 of both workers while the provider has the request of a transfer and does not answer. */
  | { do: 'kill-while-sending'; forMs: number }
  /** SIGSTOP, and SIGCONT after a while. */
  | { do: 'pause'; parts: PartName[]; forMs: number }
  /** SIGSTOP of a PostgreSQL backend: one of the product, or one that then holds a lock for too long. */
  | { do: 'pause-backend'; forMs: number }
  /** A recent payer's balance is locked, as by a slow payment. */
  | { do: 'hold-balance'; forMs: number }
  | { do: 'network'; link: LinkName; trouble: NetworkTrouble; forMs: number }
  | { do: 'provider'; trouble: ProviderTrouble; forMs: number }
  | { do: 'callbacks'; trouble: CallbackTrouble; forMs: number }
  /** A callback with the right token and false facts. */
  | { do: 'forge'; forgery: Forgery }
  | { do: 'workflow'; harm: 'terminate' | 'cancel' | 'reset' }
  /** Each sweep started twice, in addition to its schedule. */
  | { do: 'two-sweeps' }
  /** Temporal is killed and returns with an empty database; then the workers are restarted. */
  | { do: 'lose-temporal'; forMs: number }
  /** The disk of the database, or of the APIs' logs and uploads, is full for a while. */
  | { do: 'disk-full'; of: DiskName; forMs: number }
  /** Every API and worker is stopped gracefully and restarted, one after the other. */
  | { do: 'rolling-restart' }
  /** Workers are replaced by those of another release, which becomes current as in the runbook. */
  | { do: 'new-build' }
  /** The wall clocks of our processes are off by a number of hours. */
  | { do: 'clock'; parts: ServiceName[]; hours: number; forMs: number };

export type Fault = { id: string; at: number } & FaultAction;

/** The output of `--list`. */
export const faultStories: Readonly<Record<FaultAction['do'], string>> = {
  kill: 'kill -9 of one part, or of several at once, restarted after a while (PostgreSQL by immediate shutdown)',
  'hold-balance': 'the balance of a recent payer locked for a while, as by a slow payment',
  'kill-while-sending': 'kill -9 of both workers while the provider has the request of a transfer and does not answer',
  pause: 'SIGSTOP of processes for 1 to 30 seconds, then SIGCONT',
  'pause-backend':
    'SIGSTOP for 1 to 30 seconds of a PostgreSQL backend: one of the product, or one that locks the balance debited last',
  network:
    'one connection between two parts delayed, black-holed, refused, its answers truncated, or cut right before or after a commit',
  provider: 'the provider slow, failing, hanging before or after the effect, answering 429, or listing payments late',
  callbacks: 'callbacks lost, repeated a hundred times, shuffled, or late',
  forge:
    'a callback with the right token and a wrong reference, amount or status, for an unpaid payment, or for an unknown one',
  workflow: 'a running workflow terminated, cancelled, or reset to its beginning',
  'two-sweeps': 'every sweep started twice at once, in addition to its schedule',
  'lose-temporal': 'Temporal killed and restarted with an empty database, then both workers restarted',
  'disk-full':
    'no space for a while on the disk of PostgreSQL, or on the one that APIs write to (skipped with a message where a small disk cannot be mounted)',
  'rolling-restart': 'APIs and workers stopped gracefully and restarted, one after the other',
  'new-build':
    'a worker of another build id started beside the old one and made current, and the old one stopped when drained',
  clock: 'the clocks of APIs and workers moved by 1 to 20 hours in either direction, and back',
};

/** Faults drawn at random; `plan-targeted.ts` places the others. */
const weights: Record<Exclude<FaultAction['do'], 'kill-while-sending' | 'hold-balance'>, number> = {
  kill: 8,
  pause: 6,
  'pause-backend': 5,
  network: 12,
  provider: 8,
  callbacks: 6,
  forge: 6,
  workflow: 3,
  'two-sweeps': 2,
  'lose-temporal': 0.5,
  'disk-full': 1.2,
  'rolling-restart': 1,
  'new-build': 1.5,
  clock: 4,
};

/** Returns the variants of a fault in random order, each once before any is repeated. */
type Deal = <T>(of: string, variants: readonly T[]) => T;

function createDeal(random: Random): Deal {
  const decks = new Map<string, unknown[]>();
  return <T>(of: string, variants: readonly T[]): T => {
    const deck = decks.get(of) ?? [];
    if (deck.length === 0) deck.push(...random.shuffled(variants));
    decks.set(of, deck);
    return deck.pop() as T;
  };
}

const everyKind = Object.keys(weights) as (keyof typeof weights)[];
/** How often a long plan includes each kind, if more than once: enough to deal its variants. */
const variants: Partial<Record<keyof typeof weights, number>> = {
  kill: 12,
  pause: 12,
  network: 14,
  provider: 7,
  callbacks: 4,
  forge: 6,
  workflow: 4,
  'disk-full': 2,
  clock: 4,
};
const everyVariant = everyKind.flatMap((kind) => Array.from({ length: variants[kind] ?? 1 }, () => kind));

/** The average time between faults, in milliseconds. */
const meanPauseMs = 5_000;
/** No fault begins this soon after the start, when there is no work to disturb yet, or this close to the end. */
const quietMs = 2_000;

export function planFaults(random: Random, durationMs: number): ({ at: number } & FaultAction)[] {
  const count = Math.floor((durationMs - 2 * quietMs) / meanPauseMs);
  // A long plan has every variant, a shorter one every kind; the other faults, and all of a short plan, are drawn by weight.
  const sure = [everyVariant, everyKind].find(({ length }) => length <= count) ?? [];
  const kinds = Array.from({ length: count }, (_, index) => sure[index] ?? random.weighted(weights));
  const deal = createDeal(random);
  return kinds.map((kind) => {
    const at = random.int(quietMs, durationMs - quietMs);
    return { at, ...drawFault(random, deal, { kind, leftMs: durationMs - at }) };
  });
}

/** The faults of a plan in the order of their times, each with an id. */
export const inOrder = (faults: readonly ({ at: number } & FaultAction)[]): Fault[] =>
  faults.toSorted((one, other) => one.at - other.at).map((fault, index) => ({ ...fault, id: `f${index + 1}` }));

/** Clocks move by less than the lifetime of a token, a day, so that few requests carry an expired one. */
const mostHours = 20;

function drawFault(
  random: Random,
  deal: Deal,
  { kind, leftMs }: { kind: keyof typeof weights; leftMs: number },
): FaultAction {
  const forMs = Math.min(random.chance(0.7) ? random.int(500, 5_000) : random.int(5_000, 20_000), leftMs);
  switch (kind) {
    case 'kill':
      return { do: kind, parts: [...deal(kind, partSets)], forMs: Math.min(forMs, 6_000) };
    case 'pause':
      return { do: kind, parts: [...deal(kind, partSets)], forMs: Math.min(drawPause(random), leftMs) };
    case 'pause-backend':
      return { do: kind, forMs: Math.min(drawPause(random), leftMs) };
    case 'network':
      return { do: kind, ...drawNetwork(random, deal), forMs };
    case 'provider': {
      const trouble = deal(kind, [
        'slow',
        'failing',
        'hanging-before',
        'hanging-after',
        'hanging-after',
        'busy',
        'listing-late',
      ] as const);
      return { do: kind, trouble, forMs };
    }
    case 'callbacks':
      return { do: kind, trouble: deal(kind, ['lost', 'repeated', 'shuffled', 'late'] as const), forMs };
    case 'forge':
      return { do: kind, forgery: deal(kind, ['reference', 'amount', 'status', 'unpaid', 'unknown'] as const) };
    case 'workflow':
      return { do: kind, harm: deal(kind, ['terminate', 'cancel', 'reset'] as const) };
    case 'disk-full':
      return { do: kind, of: deal(kind, diskNames), forMs: Math.min(forMs, 6_000) };
    case 'clock': {
      const sets: readonly ServiceName[][] = [
        [random.pick(serviceNames)],
        [...workerNames],
        [...apiNames],
        [...serviceNames],
      ];
      const hours = random.int(1, mostHours) * (random.chance(0.5) ? 1 : -1);
      return { do: kind, parts: deal(kind, sets), hours, forMs };
    }
    case 'lose-temporal':
      return { do: kind, forMs: Math.min(forMs, 4_000) };
    default:
      return { do: kind };
  }
}

const drawPause = (random: Random): number =>
  random.chance(0.7) ? random.int(1_000, 6_000) : random.int(6_000, 30_000);

/** Parts that are killed or stopped together: mostly services, as they run most of the product. */
const partSets: readonly (readonly PartName[])[] = [
  ...partNames.map((name) => [name]),
  ['worker1', 'worker2'],
  ['api1', 'api2'],
  ['temporal', 'worker1'],
  ['postgres', 'api1'],
  serviceNames,
];

function drawNetwork(random: Random, deal: Deal): { link: LinkName; trouble: NetworkTrouble } {
  const kind = deal('trouble', ['delay', 'black-hole', 'refuse', 'truncate', 'cut-after', 'cut-after'] as const);
  if (kind === 'cut-after') {
    const text = deal('cut-after', ['commit', 'balance-payment']);
    return { link: `${deal('cut', serviceNames)}>postgres`, trouble: { kind, text } };
  }
  const link = deal('link', linkNames);
  if (kind === 'delay') return { link, trouble: { kind, ms: random.int(20, 1_500) } };
  return { link, trouble: kind === 'truncate' ? { kind, bytes: random.int(1, 400) } : { kind } };
}
