import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attempt } from './build-facts.ts';
import type { Cast } from './cast.ts';
import { readLeaks } from './read-leaks.ts';

const person = (number: number) => ({
  id: `0198c0d${number}-0000-7000-8000-000000000000`,
  email: `person${number}@example.org`,
  token: `token-${number}`,
});
const bankAccounts = { '000011': { id: 'b1', account: '90000001000011', holder: 'Siti Rahayu 1' } };
const cast = {
  users: [{ user: person(1), bankAccounts }],
  owners: [],
  approvers: [],
  admin: person(2),
  operators: { proposer: person(3), approver: person(4), other: person(5) },
  // A partner without an endpoint has no webhook secret.
  partners: [{ apiKey: 'key-of-a-partner', signingSecret: 'signing-secret', webhookSecret: '' }],
} as unknown as Cast;
const attempts = [attempt({})];

const directory = mkdtempSync(join(tmpdir(), 'amanah-leaks-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const topology = {
  secrets: ['callback-token'],
  temporalFiles: [join(directory, 'temporal.db'), join(directory, 'temporal.db-wal')],
  logFile: (name: string) => join(directory, `${name}.log`),
};
const write = (text: string) => writeFileSync(topology.logFile('worker1'), text);

it('A log of ids leaks nothing, and neither does a missing log', () => {
  write('{"level":30,"path":"/v1/partners/payouts","status":201,"request_id":"t1-w1-o-1"}\n');
  expect(readLeaks(topology, { cast, attempts })).toEqual([]);
});

it.each([
  ['person3@example.org', 'the address of a person'],
  ['Person 0198c0d5', 'the name of a person'],
  ['token-1', 'the token of a person'],
  ['90000001000011', 'the number of a bank account'],
  ['00000001000011', 'the number of a bank account'],
  ['Siti Rahayu 1', 'the holder of a bank account'],
  ['signing-secret', 'a secret of a partner'],
  ['callback-token', 'a secret of the product'],
])('A log with %s leaks %s', (secret, what) => {
  write(`{"level":50,"message":"it is ${secret}, and more"}\n`);
  expect(readLeaks(topology, { cast, attempts })).toEqual([{ part: 'the log of worker1', what }]);
});

it('A person’s name is found in a history among other bytes, even across a chunk boundary', () => {
  write('');
  const file = topology.temporalFiles[1] ?? '';
  const bytes = Buffer.alloc(64 * 1024 * 1024 + 1_000, 0xff);
  bytes.write('Person 0198c0d5', 64 * 1024 * 1024 - 5, 'latin1');
  writeFileSync(file, bytes);
  expect(readLeaks(topology, { cast, attempts })).toEqual([
    { part: 'a history of Temporal', what: 'the name of a person' },
  ]);
  rmSync(file);
});
