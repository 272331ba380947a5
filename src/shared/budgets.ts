/**
 * Every time-out of the product, in milliseconds, and their order. The clients' waits are fixed; the rest follows from
 * them. Pure, because workflows import it.
 */
const second = 1000;
const minute = 60 * second;

/** The longest waits of requests. The first three are promised to clients. */
const requests = {
  /** Until a 503 if the database or Temporal is down. */
  away: 3 * second,
  /** Until a payment is answered `PENDING` if the provider is silent. */
  gatewayPayment: 10 * second,
  /** Until a partner's payment is answered as indeterminate if the provider is silent. */
  partnerPayment: 20 * second,
  payoutReservation: 20 * second,
  /** Until a balance payment is answered with an unknown outcome. No payment is made after that. */
  balancePayment: 12 * second,
  /** How long a cancellation waits for the provider before the client is asked to retry. */
  cancellation: 10 * second,
  firstSubscriptionPayment: 10 * second,
  allocation: 60 * second,
};

/** Start-to-close time-outs of activities: a step times out before a request that waits for it. */
const steps = {
  /** Local activity: creates the row. */
  first: requests.gatewayPayment - 2 * second,
  /** Requests an instrument while a request waits. */
  instrument: requests.gatewayPayment - second / 2,
  /** Pays a period of a subscription; a request waits for the first. */
  subscriptionPeriod: requests.firstSubscriptionPayment - second,
  /** A background transaction. */
  ledger: 15 * second,
  /** Asks the provider while no request waits. */
  provider: 18 * second,
  webhook: 20 * second,
  allocation: requests.allocation - 10 * second,
  sweep: minute,
  /** Reads one check view of the ledger in full: on a replica for half the time, then on the primary. */
  checks: 45 * minute,
  reconciliation: 30 * minute,
  /** Creates one seal: reads its journals, records them and stores the object. */
  seal: 10 * minute,
};

/** The part of a step reserved for its transactions after its last provider call. */
const writing = 2.5 * second;

/** Milliseconds from the start of a step until all its provider calls are aborted. */
export const providerTimeWithin = (stepMs: number): number => Math.max(0, stepMs - writing);

const provider = {
  /** One call, with all its pages. */
  call: 6 * second,
  /**
   * From recording a transfer's attempt until its request is sent; later it is not sent, because another run may have
   * taken over the payout.
   */
  sendWithin: 10 * second,
  /** How long after its request a transfer may be in flight or unlisted: until then its absence proves nothing. */
  underWay: 2 * minute,
};

const opening = {
  /**
   * How long after its request an opening may still be carried out: longer than any request waits, so that a retry
   * joins it, yet too short for anyone to give up and pay by other means.
   */
  lives: 2 * minute,
};

const contribution = {
  /**
   * How long before the end of a round's grace period the last contribution may be ordered. The order expires with the
   * grace period, and its instrument may take two minutes to appear: a later order would leave the payer no time.
   */
  lastOrder: 10 * minute,
};

/** The database's own time-outs for one transaction. */
export interface DatabaseBudget {
  /** Waiting for one lock. */
  lock: number;
  /** A statement, including its waits for locks. */
  statement: number;
  /** Between two statements of a transaction. */
  idle: number;
  /** From `begin` to commit or rollback. */
  transaction: number;
}

const longestIdle = 45 * second;
/** Others queue behind a waiting table lock, so keep it short. */
const longestLock = minute;

const databaseWithin = (ms: number): DatabaseBudget => ({
  lock: Math.min(ms / 2, longestLock),
  statement: (ms * 3) / 4,
  idle: Math.min((ms * 3) / 4, longestIdle),
  transaction: (ms * 7) / 8,
});

/** The longest download of an account statement; a longer statement must be fetched in several periods. */
const download = 20 * minute;
const command = 120 * minute;

const database = {
  /** The role's default, for every transaction that sets no other. */
  role: databaseWithin(steps.first),
  allocation: databaseWithin(steps.allocation),
  sweep: databaseWithin(steps.sweep),
  checks: databaseWithin((steps.checks * 2) / 3),
  reconciliation: databaseWithin(steps.reconciliation),
  seal: databaseWithin(steps.seal),
  download: databaseWithin(download),
  /** Operators' commands: re-encryption, filling a database for a measurement. */
  command: databaseWithin(command),
  /** Statements queued behind a migration that waits for a lock still finish in time once it gives way. */
  migration: { ...databaseWithin(command), lock: 2 * second },
};

/** When a migration stops waiting for a lock. */
const migration = {
  /** How long it pauses before it retries. */
  pause: 5 * second,
  /** How long it retries before it gives up. */
  givesWay: 10 * minute,
};

const graceAfterSteps = 2 * second;

/** A dependency that cannot be reached within this time counts as down. */
const reach = {
  /** A connection to the database, or a free one from the pool. */
  database: 2 * second,
  /** How long a statement runs before its server is asked whether it still answers; the wait doubles, up to `most`. */
  stall: { first: 0.7 * second, most: 15 * second },
  /** A connection to the keys database, or a free one from its pool. */
  keys: 1.5 * second,
  temporal: 1.5 * second,
  /** A signal or a start, once Temporal has been reached. */
  temporalCall: 5 * second,
  /** Registering search attributes when a worker starts. */
  temporalPreparation: 10 * second,
  storage: 1.5 * second,
  /** The JWKS of an external token issuer. */
  issuer: 2 * second,
  /** DNS look-up of a partner's endpoint, when it is set. */
  webhookName: 2 * second,
  webhook: 5 * second,
  probe: 2 * second,
  /** The most that one query adds to a scrape: Prometheus waits ten seconds by default. */
  scrape: 5 * second,
};

/** Lists, documents and checks on a replica. */
const replica = {
  /** Until it has replayed the primary's log; after that the primary answers. */
  replayed: 0.1 * second,
  /** Until a read has begun, including connecting and waiting. */
  begun: second / 2,
  /** Until the next part of a download; lists and checks get half of the primary's statement time-out. */
  part: 30 * second,
  /** How long only the primary answers after the replica was lagging, down or failed. */
  rests: 5 * second,
};

const storage = {
  /** Looking up or removing an object. */
  call: 5 * second,
  /** An upload to storage with no traffic in either direction. */
  silence: 15 * second,
  /** A whole upload to storage. */
  put: 2 * minute,
};

const upload = {
  /** How much longer to read a refused body. */
  drain: 20 * second,
  /** An upload that sends nothing. */
  stalled: minute,
  whole: 30 * minute,
};

/** For a step that waits for locks: a missing heartbeat reveals a dead worker. */
const heartbeat = { every: second, missing: 5 * second };

/** Until a starting process has reached all its dependencies. */
const start = minute;

const webhook = {
  /** Connecting, sending, and the receiver's response together. */
  sending: 15 * second,
};

const mail = {
  /** Waiting for a free slot to send a message. */
  place: 10 * second,
  /** Connecting to the mail server, until its greeting. */
  connecting: 5 * second,
  /** A silent mail server. */
  silence: 10 * second,
};

const shutdown = {
  /** Activities in progress, in a worker. */
  steps: Math.max(steps.provider, steps.webhook) + graceAfterSteps,
  /** Requests in progress, in the API. */
  requests: Math.max(requests.partnerPayment, requests.payoutReservation) + 5 * second,
  /** The process then exits unconditionally. */
  process: 35 * second,
};

/** Looking up the caller first of all: in the queue and then in the database, together as long as `away`. */
const callerLookUp = { waitMs: requests.away - reach.database - 0.2 * second, runMs: reach.database + 0.2 * second };

/** Batched look-ups of people's keys: in the queue and then in their database, together a little less than `away`. */
const keyLookUp = { waitMs: requests.away - reach.keys - 0.4 * second, runMs: reach.keys + 0.2 * second };

/** Batched balance payments: in the queue, then in their transaction. */
const balancePayment = {
  waitMs: 2 * second,
  runMs: reach.database + database.role.transaction,
  /** How long a batched payment waits for a lock before it waits outside the batch. */
  briefMs: second / 2,
  /** How long after its request it may still be made, by the database's clock. */
  lives: 10 * second,
};

/** How long a client may read nothing of a statement before it is disconnected. */
const stalledReader = 30 * second;

export const budgets = {
  requests,
  steps,
  provider,
  opening,
  contribution,
  database,
  reach,
  replica,
  callerLookUp,
  keyLookUp,
  balancePayment,
  webhook,
  mail,
  shutdown,
  download: { whole: download, stalledReader },
  command: { whole: command },
  migration,
  storage,
  upload,
  heartbeat,
  start: { whole: start },
};
