import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  billOfMaterials,
  leftOut,
  licensesOf,
  licensesOfPython,
  locked,
  refusedOf,
  required,
  separate,
} from '../../dev/licenses.ts';
import { casesOf } from '../support/full.ts';

const root = join(import.meta.dirname, '..', '..');
const planted = (licenses: object[] | undefined) =>
  licensesOf({ components: [{ name: 'planted', version: '1.0.0', ...(licenses && { licenses }) }] });

describe('Licences of dependencies', () => {
  it.each(casesOf(locked))(
    'Every dependency in the lock file of %s has an allowed licence',
    (directory) => {
      const list = licensesOf(billOfMaterials(directory));
      expect(refusedOf(list)).toEqual([]);
      const { dependencies } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
      const names = new Set(list.map(({ name }) => name));
      expect(Object.keys(dependencies).filter((name) => !names.has(name))).toEqual([]);
    },
    120_000,
  );

  it.each(required)('Licences are on the allow list, for each requirement in %s', (file) => {
    const list = licensesOfPython(readFileSync(file, 'utf8'));
    expect(list).not.toEqual([]);
    expect(refusedOf(list)).toEqual([]);
    expect(file.includes('backup') || list.every(({ name }) => !(name in separate))).toBe(true);
    expect(refusedOf(licensesOfPython('barman==0.0.1'))).toHaveLength(1);
  });

  it.each([
    ['GPL-3.0-only', [{ license: { id: 'GPL-3.0-only' } }]],
    ['a name that is no SPDX id', [{ license: { name: 'SEE LICENSE IN EULA' } }]],
    ['a part that is not allowed', [{ expression: 'MIT AND GPL-2.0-only' }]],
    ['brackets that mix AND with OR', [{ expression: '(MIT OR GPL-2.0-only) AND AGPL-3.0-only' }]],
    ['an exception', [{ expression: 'GPL-2.0-only WITH Classpath-exception-2.0' }]],
    ['no licence', undefined],
  ])('The licence check rejects %s', (_, licenses) => {
    expect(refusedOf(planted(licenses))).toHaveLength(1);
  });

  it('Licences that require attribution are accepted only for packages that the image omits', () => {
    const credit = [{ license: { id: 'CC-BY-4.0' } }];
    const [name = ''] = Object.keys(leftOut);
    expect(refusedOf(licensesOf({ components: [{ name, version: '1.0.0', licenses: credit }] }))).toEqual([]);
    expect(refusedOf(planted(credit))).toHaveLength(1);
    const stage = /^FROM base AS dependencies\n(?:.+\n)+/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))?.[0];
    for (const each of Object.keys(leftOut)) expect(stage).toContain(`rm -rf node_modules/${each}`);
  });

  it.each(['MIT', 'MIT OR GPL-2.0-only', '(MIT OR CC0-1.0)', 'Apache-2.0 AND MIT'])(
    'The licence check accepts %s',
    (expression) => {
      expect(refusedOf(planted([{ expression }]))).toEqual([]);
    },
  );
});
