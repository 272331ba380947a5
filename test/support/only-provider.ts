import type { Gateway, Gateways } from '../../src/platform/gateway/gateway.ts';

/** Gateways in which every row uses this gateway. */
export const onlyProvider = (gateway: Gateway): Gateways => ({
  names: [gateway.provider],
  of: () => gateway,
  readBalance: (options) => gateway.readBalance(options),
});
