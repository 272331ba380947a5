import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const sources = globSync('{src,activities}/**/*.ts', { cwd: root }).map((file) => ({
  file,
  lines: readFileSync(join(root, file), 'utf8').split('\n'),
}));

describe('Timestamps in rows', () => {
  it('Timestamps in rows come from the database’s clock, because a process’s clock may be hours off', () => {
    const ownClock = /_at(:| =) new Date\(\)|const (now|at) = new Date\(\)|onCreate\(\(\) => new Date\(\)\)/;
    expect(sources.length).toBeGreaterThan(500);
    const found = sources.flatMap(({ file, lines }) =>
      lines
        .filter((line) => ownClock.test(line) && !line.includes('quoted_at'))
        .map((line) => `${file}: ${line.trim()}`),
    );
    expect(found).toEqual([]);
  });
});
