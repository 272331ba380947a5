import type { MikroORM } from '@mikro-orm/postgresql';
import type { Config } from '../platform/config/config.ts';
import { createCallBudget } from '../platform/gateway/call-budget.ts';
import type { Gateway, Gateways } from '../platform/gateway/gateway.ts';
import { createXenditGateway } from '../platform/gateway/xendit/create-xendit-gateway.ts';
import { must } from '../shared/assert.ts';
import { addMoney } from '../shared/money.ts';

type ProviderConfig = Pick<
  Config,
  'XENDIT_SECRET_KEY' | 'XENDIT_URL' | 'XENDIT_CALLBACK_TOKEN' | 'PROVIDER_CALLS_PER_MINUTE'
>;

interface ProviderParts {
  orm: MikroORM;
  fetch?: typeof fetch;
}

/** All providers, by the name stored with their channels and banks. */
export const providers: Record<string, (config: ProviderConfig, parts: ProviderParts) => Gateway> = {
  xendit: (config, { orm, ...parts }) =>
    createXenditGateway({
      secretKey: config.XENDIT_SECRET_KEY,
      url: config.XENDIT_URL,
      callbackToken: config.XENDIT_CALLBACK_TOKEN,
      budget: createCallBudget(orm, 'xendit', config.PROVIDER_CALLS_PER_MINUTE),
      ...parts,
    }),
};

/** Creates a gateway for each provider. */
export function createGateways(config: ProviderConfig, parts: ProviderParts): Gateways {
  const gateways = new Map(Object.entries(providers).map(([name, create]) => [name, create(config, parts)]));
  return {
    names: [...gateways.keys()],
    of: (provider) => must(gateways.get(provider), `there is a provider ${provider}`),
    async readBalance(options) {
      const balances = await Promise.all([...gateways.values()].map((gateway) => gateway.readBalance(options)));
      return addMoney('0', ...balances);
    },
  };
}
