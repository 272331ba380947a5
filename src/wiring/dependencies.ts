import type { MikroORM } from '@mikro-orm/postgresql';
import { endStandingOrdersOf } from '../circles/standing-orders.ts';
import { stopSubscriptionsOf } from '../giving/donations/stop-subscription.ts';
import { openFirstAccount } from '../ledger/accounts/open-account.ts';
import { createSealKeys, type SealKeys } from '../ledger/seals/seal-keys.ts';
import type { FindOwner } from '../money-in/callbacks/callback-workflows.ts';
import { getPartnerPayment } from '../money-in/collections/find-partner-payments.ts';
import type { PaymentKinds } from '../money-in/payments/handler.ts';
import { createPayTogether, type PayTogether } from '../money-in/payments/pay-from-balance.ts';
import type { DecisionKinds } from '../money-out/decisions/handling.ts';
import { describePostings } from '../money-out/payouts/describe-postings.ts';
import type { PayoutKinds } from '../money-out/payouts/handling.ts';
import type { CausePort } from '../money-out/withdrawals/withdrawal.ts';
import type { ProductOwners } from '../people/documents/require-product.ts';
import { createFindCaller, type FindCaller } from '../people/identity/find-caller.ts';
import type { EndOrders } from '../people/identity/recover-password.ts';
import { createTokens, type Tokens } from '../people/identity/tokens.ts';
import type { Config } from '../platform/config/config.ts';
import { connectionOptions } from '../platform/config/connection-options.ts';
import { attachReplica } from '../platform/database/replica.ts';
import { agreeOnKeys } from '../platform/encryption/agree-on-keys.ts';
import { createPersonalKeys, type PersonalKeys } from '../platform/encryption/personal-keys.ts';
import { createProver, type Prover } from '../platform/encryption/prover.ts';
import { createSealer, type Sealer } from '../platform/encryption/sealer.ts';
import type { Gateways } from '../platform/gateway/gateway.ts';
import { tracedFetch } from '../platform/gateway/traced-fetch.ts';
import { measurePool, measureProvider, measureReplica } from '../platform/metrics/measure.ts';
import { createMetrics, type Metrics } from '../platform/metrics/metrics.ts';
import { createLogger, type Logger } from '../platform/process/log.ts';
import { startTelemetry, type Telemetry } from '../platform/process/telemetry.ts';
import { openStorage, type Storage } from '../platform/storage/storage.ts';
import { budgets } from '../shared/budgets.ts';
import { armFailpoints } from '../shared/failpoint.ts';
import { createGateways } from './gateways.ts';
import { causes, decisionKinds, paymentKinds, payoutKinds } from './kinds.ts';
import { readBacklog } from './measure-backlog.ts';
import { openDatabase } from './open-database.ts';
import { productOwners } from './product-owners.ts';
import { findOwner } from './reference-owners.ts';
import { openTemporal } from './temporal/connect.ts';
import { createWorkflows, type Workflows } from './temporal/workflows.ts';

/** All dependencies of a process, opened once and passed in; there are no singletons. */
export interface Dependencies extends AsyncDisposable {
  config: Config;
  log: Logger;
  orm: MikroORM;
  gateways: Gateways;
  workflows: Workflows;
  sealer: Sealer;
  /** The keys of people, and their database. */
  personalKeys: PersonalKeys;
  keysOrm: MikroORM;
  prover: Prover;
  sealKeys: SealKeys;
  tokens: Tokens;
  findCaller: FindCaller;
  payTogether: PayTogether;
  decisionKinds: DecisionKinds;
  paymentKinds: PaymentKinds;
  payoutKinds: PayoutKinds;
  causes: CausePort;
  productOwners: ProductOwners;
  findOwner: FindOwner;
  readBacklog: typeof readBacklog;
  describePostings: typeof describePostings;
  openFirstAccount: typeof openFirstAccount;
  endOrders: EndOrders;
  getPartnerPayment: typeof getPartnerPayment;
  storage: Storage;
  metrics: Metrics;
  telemetry: Telemetry;
  /** The checks of `/readyz`, by name. */
  readiness: Record<string, () => Promise<void>>;
}

/** Connections to the keys database: look-ups are batched, and results are cached for a while. */
const keysPoolSize = 4;

/** Opens the configured dependencies. None has to be up yet: each connects when it is first used. */
export async function openDependencies(config: Config, options: { process: string }): Promise<Dependencies> {
  armFailpoints(config.FAILPOINTS);
  const telemetry = startTelemetry(config, options.process);
  const log = createLogger({ level: config.LOG_LEVEL, process: options.process });
  const database = {
    poolSize: config.DATABASE_POOL_SIZE,
    log: (message: string) => log.debug({ orm: message.slice(0, 200) }, 'database'),
  };
  const orm = await openDatabase({ url: config.DATABASE_URL, ...database });
  const metrics = createMetrics();
  measurePool(metrics, orm);
  const replica =
    config.DATABASE_READ_URL === undefined
      ? null
      : await openDatabase({ url: config.DATABASE_READ_URL, ...database, connectWithinMs: budgets.replica.begun });
  if (replica !== null) attachReplica(orm, replica, measureReplica(metrics, log));
  const keysOrm = await openDatabase({
    url: config.KEYS_DATABASE_URL,
    ...database,
    poolSize: keysPoolSize,
    connectWithinMs: budgets.reach.keys,
  });
  const client = openTemporal({
    ...connectionOptions(config),
    namespace: config.TEMPORAL_NAMESPACE,
    traced: telemetry.on,
  });
  const prover = createProver(config.DATA_ENCRYPTION_KEYS);
  const workflows = createWorkflows(client, config.TEMPORAL_TASK_QUEUE, prover, config.PUBLIC_URL);
  const storage = openStorage(config);
  const personalKeys = createPersonalKeys(keysOrm, createSealer(config.DATA_ENCRYPTION_KEYS), agreeOnKeys(orm));
  const sealer = createSealer(config.DATA_ENCRYPTION_KEYS, personalKeys);
  const sealKeys = createSealKeys(config);
  const gateways = createGateways(config, {
    orm,
    fetch: measureProvider(metrics, telemetry.on ? tracedFetch : fetch),
  });
  const tokens = createTokens({ config, orm, sealer });
  return {
    config,
    log,
    orm,
    gateways,
    workflows,
    sealer,
    personalKeys,
    keysOrm,
    prover,
    sealKeys,
    tokens,
    findCaller: createFindCaller(orm),
    payTogether: createPayTogether(orm),
    decisionKinds,
    paymentKinds,
    payoutKinds,
    causes,
    productOwners,
    findOwner,
    readBacklog,
    describePostings,
    openFirstAccount,
    async endOrders(tx, by) {
      await stopSubscriptionsOf(tx, by);
      await endStandingOrdersOf(tx, by);
    },
    getPartnerPayment,
    storage,
    metrics,
    telemetry,
    readiness: {
      database: async () => {
        await orm.em.fork().execute('select 1');
      },
      temporal: workflows.ping,
      storage: storage.ping,
    },
    async [Symbol.asyncDispose]() {
      await workflows.close().catch((error: unknown) => log.debug({ err: error }, 'closing Temporal'));
      storage.close();
      await replica?.close(true);
      await keysOrm.close(true);
      await orm.close(true);
      await telemetry.close();
    },
  };
}
