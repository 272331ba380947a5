import { planStack, portNames } from '../../dev/plan.ts';
import type { Secrets } from '../../dev/secrets.ts';
import { readSettings } from '../../dev/settings.ts';

/** Returns the environment of API and worker when `npm start` is started with this environment. */
function servicesOf(env: Record<string, string>): Record<string, string> {
  const ports = Object.fromEntries(portNames.map((name, index) => [name, 21_000 + index])) as Parameters<
    typeof planStack
  >[1];
  return planStack(readSettings(env), ports, {} as Secrets).services;
}

describe('npm start', () => {
  it('npm start makes new bank accounts usable at once, and allows webhooks to this machine', () => {
    expect(servicesOf({})).toMatchObject({ BANK_ACCOUNT_WAIT_HOURS: '0', WEBHOOK_ALLOW_LOOPBACK: 'true' });
  });

  it('Environment variables override the settings of npm start', () => {
    const env = { BANK_ACCOUNT_WAIT_HOURS: '24', WEBHOOK_ALLOW_LOOPBACK: 'false' };
    expect(servicesOf(env)).toMatchObject(env);
  });
});
