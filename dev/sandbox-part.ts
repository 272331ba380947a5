import { join } from 'node:path';
import { type Part, type PartPlace, startPart } from './part.ts';

export interface SandboxOptions {
  port: number;
  directory: string;
  /** The API's endpoint for callbacks. */
  callbackUrl: string;
  callbackToken: string;
  secretKey: string;
  /** The port of the mail server that catches mail; if unset, none runs. */
  smtpPort?: number;
  /** How long the silent accounts and amounts hold a connection open; until the caller closes it if unset. */
  silenceMs?: number;
}

const readyWithinMs = 30_000;

/** Starts the sandbox provider as its own part. */
export function startSandbox(
  { port, directory, callbackUrl, callbackToken, secretKey, smtpPort, silenceMs }: SandboxOptions,
  part: PartPlace,
): Promise<Part> {
  return startPart({
    ...part,
    name: 'The sandbox provider',
    script: join(import.meta.dirname, 'sandbox', 'main.ts'),
    env: {
      ...process.env,
      SANDBOX_PORT: String(port),
      ...(smtpPort !== undefined && { SANDBOX_SMTP_PORT: String(smtpPort) }),
      ...(silenceMs !== undefined && { SANDBOX_SILENCE_MS: String(silenceMs) }),
      SANDBOX_DATA_DIR: directory,
      SANDBOX_CALLBACK_URL: callbackUrl,
      SANDBOX_CALLBACK_TOKEN: callbackToken,
      SANDBOX_SECRET_KEY: secretKey,
    },
    readyWithinMs,
  });
}

/** The path of the API's endpoint for the provider's callbacks. */
export const callbackPath = '/v1/gateway/callbacks/xendit';
