import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../src/migrate.ts';
import { describeSchema, schemaFile } from './describe-schema.ts';
import { findFreePort } from './ports.ts';
import { postgresUrl, startPostgres } from './postgres.ts';

/** `npm run schema:write`: migrates a temporary PostgreSQL and writes the resulting schema. */
const directory = mkdtempSync(join(tmpdir(), 'amanah-schema-'));
try {
  const options = {
    directory: join(directory, 'postgres'),
    port: await findFreePort(),
    password: randomBytes(12).toString('hex'),
    database: 'amanah',
  };
  const postgres = await startPostgres(options, { logFile: join(directory, 'postgres.log') });
  try {
    await migrate(postgresUrl(options));
    writeFileSync(schemaFile, await describeSchema(postgresUrl(options)));
  } finally {
    await postgres.stop();
  }
  process.stdout.write('schema.sql is written.\n');
} finally {
  rmSync(directory, { recursive: true, force: true });
}
