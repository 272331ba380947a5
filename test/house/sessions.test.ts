import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const sources = globSync('{src,activities,workflows}/**/*.{ts,sql}', { cwd: root });

/** Session state, which a pooler in transaction mode passes to another client after each transaction. */
const ofSessions: readonly (readonly [what: string, pattern: RegExp, example: string])[] = [
  ['a lock of the session', /pg_(try_)?advisory_(lock|unlock)/, "em.execute('select pg_advisory_lock(1)')"],
  [
    'a setting of the session',
    /set_config\((?:[^()]|\([^()]*\))*,\s*false\s*\)/i,
    "select set_config('a', 'b', false)",
  ],
  [
    'a setting of the session',
    /['"`;]\s*set\s+(?!local\b|constraints\b|transaction\b)\w+[\w.]*\s*(=|to)\s/i,
    "'set a.b = 1 '",
  ],
  ['a setting of the session', /\bset\s+session\b|\bset\s+time\s+zone\b/i, 'set session characteristics'],
  ['a temporary table', /\bcreate\s+temp(orary)?\s+(table|view|sequence)\s/i, 'create temp table a (b int)'],
  ['a cursor beyond its transaction', /\bwith\s+hold\b/i, 'declare a cursor with hold for select 1'],
  ['the last value of a sequence', /\b(currval|lastval)\s*\(/i, 'select lastval()'],
  ['a channel', /['"`;]\s*(un)?listen\s+[\w"*]|['"`;]\s*notify\s+\w|\bpg_(notify|listening_channels)\b/i, "'listen a'"],
  ['a statement prepared by text', /['"`;]\s*(prepare|deallocate|discard)\s+\w/i, "'prepare a as select 1'"],
  [
    'a start-up parameter',
    /\boptions:\s*['"`]-c|\b(statement|lock|query|idle_in_transaction_session)_timeout:/,
    "options: '-c a=b'",
  ],
];

/** Code that needs a session, and therefore bypasses the pooler (docs/reference.md, Pooler). */
const exemptions: Readonly<Record<string, RegExp>> = {
  // Concurrent migrations take turns; one connection holds the lock and the time-outs.
  'src/wiring/commands/migrate.ts': /pg_try_advisory_lock/,
  'src/migrations/m0002-booked-transfers-by-time.ts': /set lock_timeout = 0/,
  'src/platform/database/database-time-outs.ts':
    /set_config\('\$\{parameters\[name\]\}', '\$\{budget\[name\]\}', false\)/,
};

describe('Statements sent to the database', () => {
  it('The product’s statements use no session state, so a pooler in transaction mode can be used', () => {
    expect(sources.length).toBeGreaterThan(600);
    const found = sources.flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .filter((line) => !exemptions[file]?.test(line))
        .flatMap((line) =>
          ofSessions.filter(([, pattern]) => pattern.test(line)).map(([what]) => `${file}: ${what}: ${line.trim()}`),
        ),
    );
    expect(found).toEqual([]);
  });

  it.each(ofSessions)('The search for session state finds %s', (_, pattern, example) =>
    expect(example).toMatch(pattern),
  );

  it('Session time-outs are set only in migrations', () => {
    const users = sources.filter((file) => /\bsetSessionTimeOuts\b/.test(readFileSync(join(root, file), 'utf8')));
    expect(users.toSorted()).toEqual(['src/platform/database/database-time-outs.ts', 'src/wiring/commands/migrate.ts']);
  });

  it('Every exemption from the ban on session state is still needed', () => {
    for (const [file, pattern] of Object.entries(exemptions)) {
      expect([
        file,
        readFileSync(join(root, file), 'utf8')
          .split('\n')
          .some((line) => pattern.test(line)),
      ]).toEqual([file, true]);
    }
  });
});
