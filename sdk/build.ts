/** Builds `sdk/dist`, which `npm pack` packs: ES modules and CommonJS, each with its types. */
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const directory = import.meta.dirname;
const sources = readdirSync(directory).filter((name) => name.endsWith('.ts') && name !== 'build.ts');
const formats = { esm: { module: 'esnext', type: 'module' }, cjs: { module: 'commonjs', type: 'commonjs' } } as const;

rmSync(join(directory, 'dist'), { recursive: true, force: true });
for (const [format, { module, type }] of Object.entries(formats)) {
  const out = join(directory, 'dist', format);
  const options = {
    target: 'es2022',
    lib: 'es2024,dom,dom.iterable,esnext.error',
    module,
    moduleResolution: 'bundler',
    rewriteRelativeImportExtensions: 'true',
    declaration: 'true',
    strict: 'true',
    types: 'node',
    outDir: out,
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  execFileSync('tsc', ['--ignoreConfig', ...args, ...sources], { cwd: directory, stdio: 'inherit' });
  writeFileSync(join(out, 'package.json'), `${JSON.stringify({ type })}\n`);
}
