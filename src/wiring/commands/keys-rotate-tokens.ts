import { rotateSigningKey } from '../../people/identity/rotate-signing-key.ts';
import { signingKeysMaxAgeMs } from '../../people/identity/signing-key.ts';
import { runSubcommands, type Subcommand } from './run-subcommands.ts';

const rotate: Subcommand = {
  summary: 'Create a new key for signing access tokens',
  options: {},
  async run({ orm, openSealer, config }) {
    const tokenTtlSeconds = config.AUTH_TOKEN_TTL_SECONDS;
    const id = await rotateSigningKey(orm.em.fork(), { sealer: openSealer(), tokenTtlSeconds });
    return {
      json: { key_id: id },
      text: `Created the signing key ${id}. Running processes sign with it within ${signingKeysMaxAgeMs / 1000} seconds; the previous one stays published until its last token has expired.`,
    };
  },
};

if (import.meta.main) {
  const args = process.argv.slice(2);
  process.exit(await runSubcommands('npm run keys:rotate-tokens --', { rotate }, ['rotate', ...args]));
}
