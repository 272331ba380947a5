import { readFileSync } from 'node:fs';

/** The variables, with the names that Temporal's own CLI also reads; a `_PATH` names a PEM file. */
export interface TemporalEnvironment {
  TEMPORAL_ADDRESS: string;
  TEMPORAL_TLS?: boolean | undefined;
  TEMPORAL_TLS_SERVER_NAME?: string | undefined;
  TEMPORAL_TLS_SERVER_CA_CERT_PATH?: string | undefined;
  TEMPORAL_TLS_CLIENT_CERT_PATH?: string | undefined;
  TEMPORAL_TLS_CLIENT_KEY_PATH?: string | undefined;
  TEMPORAL_API_KEY?: string | undefined;
}

/** Connection options in the shape that both clients and workers accept. */
export interface TemporalConnectionOptions {
  address: string;
  tls?: TlsOptions | false;
  apiKey?: string;
}
interface TlsOptions {
  serverNameOverride?: string;
  serverRootCACertificate?: Buffer;
  clientCertPair?: { crt: Buffer; key: Buffer };
}

/** The variables that name a certificate or key file. */
export const certificateFiles = [
  'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_KEY_PATH',
] as const;

/** Returns the errors in these variables, each with its variable. */
export function complaintsAbout(env: TemporalEnvironment): { name: string; message: string }[] {
  const complaints: { name: string; message: string }[] = [];
  const complain = (name: string, message: string) => complaints.push({ name, message });
  for (const name of certificateFiles) {
    try {
      const text = env[name] === undefined ? null : readFileSync(env[name], 'utf8');
      if (text?.includes('-----BEGIN ') === false) complain(name, 'names a file that is not PEM');
    } catch (error) {
      complain(name, `cannot be read: ${error instanceof Error ? error.message : error}`);
    }
  }
  const { TEMPORAL_TLS_CLIENT_CERT_PATH: crt, TEMPORAL_TLS_CLIENT_KEY_PATH: key } = env;
  if (crt && !key) complain('TEMPORAL_TLS_CLIENT_KEY_PATH', 'is needed with TEMPORAL_TLS_CLIENT_CERT_PATH');
  if (key && !crt) complain('TEMPORAL_TLS_CLIENT_CERT_PATH', 'is needed with TEMPORAL_TLS_CLIENT_KEY_PATH');
  if (env.TEMPORAL_TLS === false && asksForTls(env)) {
    complain('TEMPORAL_TLS', 'is false, but a certificate, a server name or an API key needs it');
  }
  return complaints;
}

const asksForTls = (env: TemporalEnvironment): boolean =>
  Boolean(
    env.TEMPORAL_TLS ||
      env.TEMPORAL_TLS_SERVER_NAME ||
      env.TEMPORAL_API_KEY ||
      certificateFiles.some((name) => env[name]),
  );

/** Builds the options of a connection. Any TLS setting or an API key turns on TLS. */
export function connectionOptions(env: TemporalEnvironment): TemporalConnectionOptions {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_TLS_SERVER_NAME: name, TEMPORAL_API_KEY: apiKey } = env;
  const [ca, crt, key] = certificateFiles.map((file) => env[file] && readFileSync(env[file])) as [
    Buffer?,
    Buffer?,
    Buffer?,
  ];
  const tls = asksForTls(env) && {
    ...(name && { serverNameOverride: name }),
    ...(ca && { serverRootCACertificate: ca }),
    ...(crt && key && { clientCertPair: { crt, key } }),
  };
  return { address, tls, ...(apiKey && { apiKey }) };
}
