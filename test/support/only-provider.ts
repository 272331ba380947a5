import type { Gateway, Gateways } from '../../src/platform/gateway/gateway.ts';

/** Makes this the gateway of every row. */
export const onlyProvider = (gateway: Gateway): Gateways => ({
  names: [gateway.provider],
  of: () => gateway,
  readBalance: (options) => gateway.readBalance(options),
});
