import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { newApiKey, newSigningSecret, newWebhookSecret } from '../src/partners/partner-secrets.ts';
import { readJson, writePrivateJson } from './private-file.ts';

const random = (bytes: number): string => randomBytes(bytes).toString('base64url');

/** Each secret is generated once per data directory and kept there; a new field is generated at the next start. */
export const secretsSchema = z.object({
  /** The password of the databases' owner. */
  databasePassword: z.string().default(() => random(18)),
  applicationPassword: z.string().default(() => random(18)),
  readerPassword: z.string().default(() => random(18)),
  dataEncryptionKeys: z.string().default(() => `dev-1:${randomBytes(32).toString('base64')}`),
  sealSigningKey: z.string().default(() => `dev-1:${randomBytes(32).toString('base64')}`),
  callbackToken: z.string().default(() => random(24)),
  s3AccessKeyId: z.string().default(() => random(12)),
  s3SecretAccessKey: z.string().default(() => random(24)),
  sandboxSecretKey: z.string().default(() => `xnd_sandbox_${random(24)}`),
  partner: z
    .object({
      apiKey: z.string().default(newApiKey),
      signingSecret: z.string().default(newSigningSecret),
      webhookSecret: z.string().default(newWebhookSecret),
      approver: z
        .object({ apiKey: z.string().default(newApiKey), signingSecret: z.string().default(newSigningSecret) })
        .prefault({}),
    })
    .prefault({}),
  passwords: z
    .object({
      platform_super_admin: z.string().default(() => random(15)),
      second_super_admin: z.string().default(() => random(15)),
      third_super_admin: z.string().default(() => random(15)),
      platform_admin: z.string().default(() => random(15)),
      organization_admin: z.string().default(() => random(15)),
      individual: z.string().default(() => random(15)),
      second_individual: z.string().default(() => random(15)),
    })
    .prefault({}),
});

export type Secrets = z.infer<typeof secretsSchema>;

/** The secrets of a data directory, readable by its owner only. */
export function keepSecrets(dataDirectory: string): Secrets {
  const file = join(dataDirectory, 'secrets.json');
  const secrets = secretsSchema.parse(readJson(file) ?? {});
  writePrivateJson(file, secrets);
  return secrets;
}
