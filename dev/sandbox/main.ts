import { z } from 'zod';
import { startSandbox } from './start-sandbox.ts';

const environment = z.object({
  SANDBOX_PORT: z.coerce.number().int().min(0).max(65_535),
  SANDBOX_HOST: z.string().min(1).default('127.0.0.1'),
  SANDBOX_DATA_DIR: z.string().min(1),
  SANDBOX_SMTP_PORT: z.coerce.number().int().min(1).max(65_535).optional(),
  SANDBOX_CALLBACK_URL: z.url().optional(),
  SANDBOX_CALLBACK_TOKEN: z.string().min(1),
  /** How long the silent accounts and amounts hold a connection open; until the caller closes it if unset. */
  SANDBOX_SILENCE_MS: z.coerce.number().int().min(0).optional(),
  SANDBOX_SECRET_KEY: z.string().regex(/^xnd_/, 'must start with xnd_'),
});

const read = environment.safeParse(process.env);
if (!read.success) {
  const complaints = read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  process.stderr.write(`The sandbox cannot start: ${complaints.join('; ')}.\n`);
  process.exit(1);
}

try {
  const sandbox = await startSandbox({
    port: read.data.SANDBOX_PORT,
    smtpPort: read.data.SANDBOX_SMTP_PORT,
    host: read.data.SANDBOX_HOST,
    dataDir: read.data.SANDBOX_DATA_DIR,
    callbackUrl: read.data.SANDBOX_CALLBACK_URL,
    callbackToken: read.data.SANDBOX_CALLBACK_TOKEN,
    secretKey: read.data.SANDBOX_SECRET_KEY,
    silenceMs: read.data.SANDBOX_SILENCE_MS,
  });
  const stop = async () => {
    await sandbox.stop();
    process.exit(0);
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  process.once('disconnect', stop);
  process.stdout.write(`sandbox provider ready at ${sandbox.url}\n`);
  process.send?.('ready');
} catch (error) {
  process.stderr.write(`The sandbox cannot start: ${Error.isError(error) ? error.message : String(error)}.\n`);
  process.exit(1);
}
