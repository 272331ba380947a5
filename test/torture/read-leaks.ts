import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import type { Cast } from './cast.ts';
import type { Attempt, Facts } from './facts.ts';
import { serviceNames } from './parts.ts';
import type { Topology } from './topology.ts';

type Tells = (text: string) => boolean;

const anyOf = (texts: readonly string[]): Tells => {
  const all = [...new Set(texts)].filter((text) => text !== '');
  return (text) => all.some((one) => text.includes(one));
};

/** Finds any of many account numbers in one pass over the text. */
const anyNumberOf = (numbers: readonly string[]): Tells => {
  const all = new Set(numbers);
  return (text) => text.match(/\d{13,17}/g)?.some((number) => all.has(number)) === true;
};

/** What no log and no history may contain, by kind. */
function secretsOf(
  { secrets }: Pick<Topology, 'secrets'>,
  cast: Cast,
  attempts: readonly Attempt[],
): Record<string, Tells> {
  const { users, owners, approvers, admin, operators, partners } = cast;
  const people = [...users, ...owners].map(({ user }) => user);
  const everybody = [...people, ...approvers, admin, operators.proposer, operators.approver, operators.other];
  const accounts = [...users, ...owners].flatMap(({ bankAccounts }) => Object.values(bankAccounts));
  const named = [...accounts, ...attempts.flatMap(({ goesTo }) => goesTo ?? [])];
  return {
    'the address of a person': anyOf(everybody.map(({ email }) => email)),
    // As `buildUser` names them.
    'the name of a person': anyOf(everybody.map(({ id }) => `Person ${id.slice(0, 8)}`)),
    'the token of a person': anyOf(everybody.map(({ token }) => token)),
    'the number of a bank account': anyNumberOf(named.map(({ account }) => account)),
    // Holders' names without the distinguishing number.
    'the holder of a bank account': anyOf(named.map(({ holder }) => holder.split(' ').slice(0, 2).join(' '))),
    'a secret of a partner': anyOf(partners.flatMap((one) => [one.apiKey, one.signingSecret, one.webhookSecret])),
    'a secret of the product': anyOf(secrets),
  };
}

/**
 * A file is read in overlapping parts, because it may exceed the maximum length of a string; no secret is longer than
 * the overlap.
 */
const partBytes = 64 * 1024 * 1024;
const overlapBytes = 512;

function* textsOf(file: string): Generator<string> {
  if (!existsSync(file)) return;
  const buffer = Buffer.alloc(partBytes);
  const from = openSync(file, 'r');
  try {
    for (let position = 0; ; ) {
      const read = readSync(from, buffer, 0, partBytes, position);
      // Preserves all bytes: the search is for ASCII.
      yield buffer.toString('latin1', 0, read);
      if (read < partBytes) return;
      position += read - overlapBytes;
    }
  } finally {
    closeSync(from);
  }
}

/**
 * Returns each kind of secret found in a log of an API or worker, or in Temporal's data, which contains all histories
 * uncompressed.
 */
export function readLeaks(
  topology: Pick<Topology, 'secrets' | 'logFile' | 'temporalFiles'>,
  { cast, attempts }: { cast: Cast; attempts: readonly Attempt[] },
): Facts['leaks'] {
  const kinds = Object.entries(secretsOf(topology, cast, attempts));
  const places = [
    ...serviceNames.map((name) => ({ part: `the log of ${name}`, file: topology.logFile(name) })),
    ...topology.temporalFiles.map((file) => ({ part: 'a history of Temporal', file })),
  ];
  const told = new Map<string, Facts['leaks'][number]>();
  for (const { part, file } of places) {
    for (const text of textsOf(file)) {
      for (const [what, tells] of kinds) if (tells(text)) told.set(`${part} ${what}`, { part, what });
    }
  }
  return [...told.values()];
}
