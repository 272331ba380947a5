import { resolve } from 'node:path';
import type { DemoUser, DemoUserName } from './demo-data.ts';
import type { DemoPartner } from './demo-partner.ts';
import { defaultDataDirectory } from './settings.ts';

export const credentialsFile = 'credentials.json';

/**
 * `credentials.json` in the data directory: everything a person or a test needs to use the stack (docs/contract.md 10).
 */
export interface Credentials extends Record<DemoUserName, DemoUser> {
  urls: {
    api: string;
    docs: string;
    temporal_ui: string | null;
    temporal_address: string;
    /** Null when XENDIT_URL stands in for the sandbox. */
    sandbox: string | null;
    database: string;
  };
  partner: DemoPartner;
  /** The `x-callback-token` that the sandbox sends. */
  gateway_callback_token: string;
}

/** The text printed at the end of a start: URLs, logins, the location of a partner's keys, and the commands to try next. */
export function describeStack(credentials: Credentials, dataDirectory: string, seconds: number): string {
  const { urls } = credentials;
  const file = `${dataDirectory}/${credentialsFile}`;
  const logins = (
    [
      'platform_super_admin',
      'second_super_admin',
      'third_super_admin',
      'platform_admin',
      'organization_admin',
      'individual',
      'second_individual',
    ] as const
  ).map((name) => `    ${name.padEnd(22)}${credentials[name].email.padEnd(38)}${credentials[name].password}`);
  return `
Amanah runs, after ${seconds.toFixed(1)} s. Ctrl-C stops everything and keeps the data.

  API                ${urls.api}
  API documentation  ${urls.docs}
  For partners       ${urls.docs}/partners
  For apps           ${urls.docs}/start
  For operators      ${urls.api}/operations
  Temporal web UI    ${urls.temporal_ui ?? 'of the server at '.concat(urls.temporal_address)}
  Sandbox provider   ${urls.sandbox ?? 'replaced by XENDIT_URL'}
  Data and logs      ${dataDirectory}
  Partner's keys     ${file}, under partner

  Demo logins (with all ids also in ${file})
${logins.join('\n')}

  Next, in another terminal
${nextCommands(credentials, dataDirectory).join('\n')}
`;
}

/** The commands to try next, in the project's directory; without the sandbox, only those that do not need it. */
function nextCommands({ urls, individual }: Credentials, dataDirectory: string): string[] {
  const isDefault = dataDirectory === resolve(defaultDataDirectory);
  const prefix = isDefault ? '' : `DATA_DIR=${quote(dataDirectory)} `;
  const verify = `  ${prefix}npm run verify    # checks the books`;
  if (urls.sandbox === null) {
    const body = JSON.stringify({ email: individual.email, password: individual.password });
    return [`  curl -s ${urls.api}/v1/auth/login -H 'content-type: application/json' -d '${body}'`, verify];
  }
  return [
    `  ${prefix}npx node examples/partner.ts    # a partner's payment, and its webhook verified`,
    `  ${prefix}npm run demo    # a top-up by QRIS, from the request to the ledger`,
    verify,
  ];
}

/** A word quoted for a shell. */
function quote(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
