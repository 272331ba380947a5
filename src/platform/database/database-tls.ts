import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';

/** Every variable that names a database. */
export const databaseVariables = [
  'DATABASE_URL',
  'DATABASE_READ_URL',
  'MIGRATION_DATABASE_URL',
  'READER_DATABASE_URL',
  'KEYS_DATABASE_URL',
  'MIGRATION_KEYS_DATABASE_URL',
] as const;

/** The modes of PostgreSQL's own clients, except those that may fall back to plain text. */
const modes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
const parameters: readonly string[] = ['sslmode', 'sslrootcert'];

/** Whether a host is this machine, so that the traffic never leaves it. */
const isLocal = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host);

/**
 * Returns why a database's URL is refused: an unknown parameter or `sslmode`, a fragment, an unusable certificate, or, in
 * production, a remote database without an encryption setting. Null if it is valid.
 */
export function complainOfDatabaseUrl(url: string, { isProduction }: { isProduction: boolean }): string | null {
  if (!URL.canParse(url)) return null;
  const { searchParams, hostname, hash } = new URL(url);
  if (hash !== '') return 'must not have a fragment';
  for (const name of searchParams.keys()) {
    if (!parameters.includes(name)) return `the parameter ${name} is not known; known are ${parameters.join(', ')}`;
    if (searchParams.getAll(name).length > 1) return `the parameter ${name} is given twice`;
  }
  const [mode, authority] = [searchParams.get('sslmode'), searchParams.get('sslrootcert')];
  if (mode !== null && !modes.some((known) => known === mode)) {
    return `sslmode=${mode.slice(0, 40)} is not one of ${modes.join(', ')}`;
  }
  if (authority !== null && (mode === null || mode === 'disable')) return 'sslrootcert needs an sslmode that encrypts';
  if (authority !== null) {
    try {
      const isPem = readFileSync(authority, 'utf8').includes('-----BEGIN ');
      if (!isPem) return `sslrootcert=${authority.slice(0, 200)} is not PEM`;
    } catch {
      return `sslrootcert=${authority.slice(0, 200)} cannot be read`;
    }
  }
  if (mode === null && isProduction && !isLocal(hostname)) {
    return 'names a remote database: add sslmode=verify-full (or require, verify-ca), or sslmode=disable';
  }
  return null;
}

/**
 * Returns the TLS settings of a database's URL: `require` encrypts, `verify-ca` also requires a certificate from the
 * authority in `sslrootcert` (or one that Node trusts), and `verify-full` also checks its host name. `require` with
 * `sslrootcert` means `verify-ca`.
 */
export function tlsOf(url: string): ConnectionOptions | false {
  const { searchParams, hostname } = new URL(url);
  const mode = searchParams.get('sslmode');
  if (mode === null || mode === 'disable') return false;
  const authority = searchParams.get('sslrootcert');
  if (mode === 'require' && authority === null) return { rejectUnauthorized: false };
  const host = hostname.replace(/^\[|\]$/g, '');
  return {
    rejectUnauthorized: true,
    ...(authority !== null && { ca: readFileSync(authority, 'utf8') }),
    // The host name to match against the certificate; SNI does not allow an IP address.
    ...(mode === 'verify-full' ? { host, ...(isIP(host) === 0 && { servername: host }) } : anyHost),
  };
}

const anyHost: ConnectionOptions = { checkServerIdentity: () => undefined };

/** Returns the URL without the parameters that `tlsOf` reads, for clients that would interpret them differently. */
export function withoutParameters(url: string): string {
  const bare = new URL(url);
  bare.search = '';
  return bare.href;
}
