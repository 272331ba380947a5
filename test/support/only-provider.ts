import type { Gateway, Gateways } from '../../src/platform/gateway/gateway.ts';

/** This gateway for every row. */
export const onlyProvider = (gateway: Gateway): Gateways => ({
  names: [gateway.provider],
  of: () => gateway,
  readBalance: (options) => gateway.readBalance(options),
});
