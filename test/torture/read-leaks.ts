import { existsSync, readFileSync } from 'node:fs';
import type { Cast } from './cast.ts';
import type { Attempt, Facts } from './facts.ts';
import { serviceNames } from './parts.ts';
import type { Topology } from './topology.ts';

/** What no log may tell: texts, by what they are. */
function secretsOf({ secrets }: Pick<Topology, 'secrets'>, cast: Cast, attempts: readonly Attempt[]) {
  const { users, owners, approvers, admin, operators, partners } = cast;
  const people = [...users, ...owners].map(({ user }) => user);
  const everybody = [...people, ...approvers, admin, operators.proposer, operators.approver, operators.other];
  const accounts = [...users, ...owners].flatMap(({ bankAccounts }) => Object.values(bankAccounts));
  const named = [...accounts, ...attempts.flatMap(({ goesTo }) => goesTo ?? [])];
  return {
    'the address of a person': everybody.map(({ email }) => email),
    // As `buildUser` names them.
    'the name of a person': everybody.map(({ id }) => `Person ${id.slice(0, 8)}`),
    'the token of a person': everybody.map(({ token }) => token),
    'the number of a bank account': named.map(({ account }) => account),
    'the holder of a bank account': named.map(({ holder }) => holder),
    'a secret of a partner': partners.flatMap(({ apiKey, signingSecret, webhookSecret }) => [
      apiKey,
      signingSecret,
      webhookSecret,
    ]),
    'a secret of the product': secrets,
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
    return kinds
      .filter(([, texts]) => [...new Set(texts)].some((secret) => secret !== '' && text.includes(secret)))
      .map(([what]) => ({ part, what }));
  });
}
