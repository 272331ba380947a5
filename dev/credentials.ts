import type { DemoUser, DemoUserName } from './demo-data.ts';
import type { DemoPartner } from './demo-partner.ts';

/** `credentials.json` in the data directory: everything a person or a test needs to use the stack (decisions 10). */
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
  /** What the sandbox sends as `x-callback-token`. */
  gateway_callback_token: string;
}

/** The block that ends a start: where everything is, who may log in, and one call to try. */
export function describeStack(credentials: Credentials, dataDirectory: string, seconds: number): string {
  const { urls, individual } = credentials;
  const logins = (
    ['platform_super_admin', 'platform_admin', 'organization_admin', 'individual', 'second_individual'] as const
  ).map((name) => `    ${name.padEnd(22)}${credentials[name].email.padEnd(38)}${credentials[name].password}`);
  const body = JSON.stringify({ email: individual.email, password: individual.password });
  return `
Amanah runs, after ${seconds.toFixed(1)} s.

  API                ${urls.api}
  API documentation  ${urls.docs}
  For operators      ${urls.api}/operations
  Temporal web UI    ${urls.temporal_ui ?? 'of the server at '.concat(urls.temporal_address)}
  Sandbox provider   ${urls.sandbox ?? 'replaced by XENDIT_URL'}
  Data and logs      ${dataDirectory}

  Demo logins (with all ids also in ${dataDirectory}/credentials.json)
${logins.join('\n')}

  Try
    npm run demo
    curl -s ${urls.api}/v1/auth/login -H 'content-type: application/json' -d '${body}'

Ctrl-C stops everything; the data stays.
`;
}
