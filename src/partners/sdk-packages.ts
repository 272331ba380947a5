import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { crc32, gzipSync } from 'node:zlib';
import { printPythonModels } from './python-models.ts';

/** The clients' sources. Packages are built on request, so that they match this API. */
export const sdkSource = join(import.meta.dirname, '..', '..', 'sdk');
/** Files that stay in the repository. */
const notPacked = new Set(['build.ts', 'generate.ts']);

interface File {
  path: string;
  bytes: Buffer;
}
const file = (path: string, text: string | Buffer): File => ({ path, bytes: Buffer.from(text) });
const read = (...path: string[]): string => readFileSync(join(sdkSource, ...path), 'utf8');
const { name, version, description, license, engines } = JSON.parse(read('package.json')) as Record<string, unknown>;

export const npmPackage = `${name}-${version}.tgz`;
export const wheel = `amanah_partner-${version}-py3-none-any.whl`;

/** A package for npm: each module as JavaScript, with its source next to it for the types. */
export function packForNpm(): Buffer {
  const sources = readdirSync(sdkSource).filter((entry) => entry.endsWith('.ts') && !notPacked.has(entry));
  const files = sources.flatMap((entry) => {
    const text = read(entry).replace(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'");
    // The source is packed for its types, which must not depend on the user's compiler settings.
    const types = text.startsWith('#!') ? [] : [file(`dist/${entry}`, `// @ts-nocheck\n${text}`)];
    return [file(`dist/${entry.replace(/ts$/, 'js')}`, stripTypeScriptTypes(text)), ...types];
  });
  const described = {
    ...{ name, version, description, license, engines, type: 'module', sideEffects: false },
    types: './dist/index.ts',
    exports: { '.': { types: './dist/index.ts', default: './dist/index.js' } },
    bin: { 'amanah-listen': './dist/listen.js' },
  };
  return tarball([
    file('package.json', JSON.stringify(described, null, 2)),
    file('README.md', read('README.md')),
    ...files,
  ]);
}

/** A wheel for pip, with the types of the partners' document. */
export function packWheel(document: object): Buffer {
  const project = read('python', 'pyproject.toml');
  const [, python = ''] = /requires-python = "(.*)"/.exec(project) ?? [];
  const [, needs = ''] = /^dependencies = \["(.*)"\]/m.exec(project) ?? [];
  const modules = readdirSync(join(sdkSource, 'python', 'amanah_partner'), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name: entry }) =>
      file(`amanah_partner/${entry}`, readFileSync(join(sdkSource, 'python', 'amanah_partner', entry))),
    );
  const info = `amanah_partner-${version}.dist-info`;
  const metadata = [
    'Metadata-Version: 2.1',
    `Name: ${name}`,
    `Version: ${version}`,
    `Summary: ${description}`,
    `License: ${license}`,
    `Requires-Python: ${python}`,
    `Requires-Dist: ${needs}`,
    'Description-Content-Type: text/markdown',
    '',
    read('python', 'README.md'),
  ].join('\n');
  const files = [
    ...modules,
    file('amanah_partner/models.py', printPythonModels(document)),
    file(`${info}/METADATA`, metadata),
    file(`${info}/WHEEL`, 'Wheel-Version: 1.0\nGenerator: amanah\nRoot-Is-Purelib: true\nTag: py3-none-any\n'),
  ];
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64url');
  const record = files.map(({ path, bytes }) => `${path},sha256=${digest(bytes)},${bytes.length}\n`).join('');
  return archive([...files, file(`${info}/RECORD`, `${record}${info}/RECORD,,\n`)]);
}

const block = 512;
const padded = (bytes: Buffer): Buffer =>
  Buffer.concat([bytes, Buffer.alloc((block - (bytes.length % block)) % block)]);

/** A gzipped tar (ustar) of regular files under `package/`. Reproducible. */
function tarball(files: readonly File[]): Buffer {
  const parts = files.flatMap(({ path, bytes }) => {
    const header = Buffer.alloc(block);
    const put = (at: number, text: string) => header.write(text, at, 'latin1');
    put(0, `package/${path}`);
    put(100, '0000644\0');
    put(108, '0000000\0');
    put(116, '0000000\0');
    put(124, `${bytes.length.toString(8).padStart(11, '0')}\0`);
    put(136, '00000000000\0');
    put(148, '        ');
    put(156, '0');
    put(257, 'ustar\0');
    put(263, '00');
    const sum = header.reduce((total, byte) => total + byte, 0);
    put(148, `${sum.toString(8).padStart(6, '0')}\0 `);
    return [header, padded(bytes)];
  });
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * block)]));
}

/** An uncompressed zip, with all files dated 1980. */
function archive(files: readonly File[]): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { path, bytes } of files) {
    const named = Buffer.from(path);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x21, 8);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(bytes.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(named.length, 22);
    const start = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, named, bytes]);
    local.push(start);
    const place = Buffer.alloc(14);
    place.writeUInt32LE((0o100644 << 16) >>> 0, 6);
    place.writeUInt32LE(offset, 10);
    central.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, place, named);
    offset += start.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, directory, end]);
}
