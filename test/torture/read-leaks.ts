import { existsSync, readFileSync } from 'node:fs';
import type { Cast } from './cast.ts';
import type { Attempt, Facts } from './facts.ts';
import { serviceNames } from './parts.ts';
import type { Topology } from './topology.ts';

type Tells = (text: string) => boolean;

const anyOf = (texts: readonly string[]): Tells => {
  const all = [...new Set(texts)].filter((text) => text !== '');
  return (text) => all.some((one) => text.includes(one));
};

/** Each piece of work has an account of its own: its log is read once for all of them. */
const anyNumberOf = (numbers: readonly string[]): Tells => {
  const all = new Set(numbers);
  return (text) => text.match(/\d{13,17}/g)?.some((number) => all.has(number)) === true;
};

/** What no log may tell, by what it is. */
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
    // Without what sets one from another.
    'the holder of a bank account': anyOf(named.map(({ holder }) => holder.split(' ').slice(0, 2).join(' '))),
    'a secret of a partner': anyOf(partners.flatMap((one) => [one.apiKey, one.signingSecret, one.webhookSecret])),
    'a secret of the product': anyOf(secrets),
  };
}

/** What the logs of APIs and workers tell of these, once for each kind. */
export function readLeaks(
  topology: Pick<Topology, 'secrets' | 'logFile'>,
  { cast, attempts }: { cast: Cast; attempts: readonly Attempt[] },
): Facts['leaks'] {
  const kinds = Object.entries(secretsOf(topology, cast, attempts));
  return serviceNames.flatMap((part) => {
    const file = topology.logFile(part);
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    return kinds.filter(([, tells]) => tells(text)).map(([what]) => ({ part, what }));
  });
}
