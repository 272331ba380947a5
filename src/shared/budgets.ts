/**
 * Every wait of the product, in milliseconds, and which one ends before which. What a client may be kept waiting is
 * fixed; the rest follows from it. Pure, as workflows read it.
 */
const second = 1000;
const minute = 60 * second;

/** What a request waits for at most. The first three are promised to clients. */
const requests = {
  /** Until a 503 when the database or Temporal is away. */
  away: 3 * second,
  /** Until a payment whose provider is silent is answered `PENDING`. */
  gatewayPayment: 10 * second,
  /** Until a partner's payment whose provider is silent is answered as indeterminate. */
  partnerPayment: 20 * second,
  payoutReservation: 20 * second,
  /** Until one who cancels a payment is told to ask again, as the provider has not ended it yet. */
  cancellation: 10 * second,
  /** Until an operator whose decision is not carried out yet is told to ask again. */
  decision: 20 * second,
  circleRow: 10 * second,
  firstSubscriptionPayment: 10 * second,
  allocation: 60 * second,
};

/** Start-to-close time-outs of activities: a step that somebody waits for ends before the wait does. */
const steps = {
  /** Local: makes the row. */
  first: requests.gatewayPayment - 2 * second,
  /** Asks for an instrument while a request waits. */
  instrument: requests.gatewayPayment - second / 2,
  /** A period of a subscription, the first while a request waits. */
  subscriptionPeriod: requests.firstSubscriptionPayment - second,
  /** One transaction that nobody waits for. */
  ledger: 15 * second,
  /** Asks the provider while nobody waits. */
  provider: 18 * second,
  webhook: 20 * second,
  allocation: requests.allocation - 10 * second,
  sweep: minute,
  checks: 10 * minute,
  reconciliation: 30 * minute,
  /** Makes one seal: reads its journals, writes them down, stores the object. */
  seal: 10 * minute,
};

/** What a step keeps for its transactions after its last call to the provider. */
const writing = 2.5 * second;

/** From the start of a step until its last call to the provider is aborted, all its calls together. */
export const providerTimeWithin = (stepMs: number): number => Math.max(0, stepMs - writing);

const provider = {
  /** One call: what one question or order takes with all its pages. */
  call: 6 * second,
  /**
   * From a transfer's attempt being written down until its request leaves; one that was held up for longer does not
   * leave any more, as somebody else looks after the payout.
   */
  sendWithin: 10 * second,
  /** A transfer may be under way, or not listed yet, for so long after its request: until then nothing follows from it. */
  underWay: 2 * minute,
};

const opening = {
  /**
   * How long after its request an opening may still be done. Longer than any request waits, so that a retry joins it;
   * short enough that nobody has given it up and paid by other means.
   */
  lives: 2 * minute,
};

/** The database's own time-outs for one transaction. */
export interface DatabaseBudget {
  /** Waiting for one lock. */
  lock: number;
  /** One statement, its waits for locks included. */
  statement: number;
  /** Between two statements of a transaction. */
  idle: number;
  /** From `begin` to its end. */
  transaction: number;
}

const longestIdle = 45 * second;
/** Whoever waits for a lock on a table keeps everybody behind it waiting. */
const longestLock = minute;

const databaseWithin = (ms: number): DatabaseBudget => ({
  lock: Math.min(ms / 2, longestLock),
  statement: (ms * 3) / 4,
  idle: Math.min((ms * 3) / 4, longestIdle),
  transaction: (ms * 7) / 8,
});

/** A statement that is downloaded slowly; longer ones are fetched by period. */
const download = 20 * minute;
const command = 120 * minute;

const database = {
  /** The role's: every transaction that asks for no other. */
  role: databaseWithin(steps.first),
  allocation: databaseWithin(steps.allocation),
  sweep: databaseWithin(steps.sweep),
  checks: databaseWithin(steps.checks),
  reconciliation: databaseWithin(steps.reconciliation),
  seal: databaseWithin(steps.seal),
  download: databaseWithin(download),
  /** Commands of an operator: re-encryption, filling a database for a measurement. */
  command: databaseWithin(command),
  /** Who queues behind a migration that waits for a lock is still in time when it gives way. */
  migration: { ...databaseWithin(command), lock: 2 * second },
};

/** A migration that does not get a lock. */
const migration = {
  /** Others go first for so long; then it is made again. */
  pause: 5 * second,
  /** Then it is given up. */
  givesWay: 10 * minute,
};

const graceAfterSteps = 2 * second;

/** Without these the named thing is away. */
const reach = {
  /** A connection to the database, or a free one of the pool. */
  database: 2 * second,
  temporal: 1.5 * second,
  /** A signal or a start, once Temporal was reached. */
  temporalCall: 5 * second,
  /** Registering search attributes when a worker starts. */
  temporalPreparation: 10 * second,
  storage: 1.5 * second,
  /** The keys of an external issuer of tokens. */
  issuer: 2 * second,
  /** The address of a partner's endpoint, when it is set. */
  webhookName: 2 * second,
  webhook: 5 * second,
  probe: 2 * second,
};

const storage = {
  /** Asking for or removing an object. */
  call: 5 * second,
  /** Nothing sent and nothing received of an upload's way to storage. */
  silence: 15 * second,
  /** An upload's whole way to storage. */
  put: 2 * minute,
};

const upload = {
  /** Of a refused body so much longer is read. */
  drain: 20 * second,
  /** Nothing arrives of a file. */
  stalled: minute,
  whole: 30 * minute,
};

/** Of a step that waits for locks: one that died is found out by the missing beat. */
const heartbeat = { every: second, missing: 5 * second };

/** Until a process that starts has found what it depends on. */
const start = minute;

const webhook = {
  /** Connecting, sending, and the receiver's answer together. */
  sending: 15 * second,
};

const shutdown = {
  /** Steps under way, of a worker. */
  steps: Math.max(steps.provider, steps.webhook) + graceAfterSteps,
  /** Requests under way, of the API. */
  requests: Math.max(requests.partnerPayment, requests.payoutReservation) + 5 * second,
  /** Then the process ends, whatever it waits for. */
  process: 35 * second,
};

/** Who asks is looked up before everything else: in line and then at the database, together as long as a request waits. */
const callerLookUp = { waitMs: requests.away - reach.database - 0.2 * second, runMs: reach.database + 0.2 * second };

/** Payments from balances that arrive together: in line, and then in the transaction that makes them. */
const balancePayment = { waitMs: 2 * second, runMs: reach.database + database.role.transaction };

/** A reader of a statement that takes nothing for this long is left. */
const stalledReader = 30 * second;

export const budgets = {
  requests,
  steps,
  provider,
  opening,
  database,
  reach,
  callerLookUp,
  balancePayment,
  webhook,
  shutdown,
  download: { whole: download, stalledReader },
  command: { whole: command },
  migration,
  storage,
  upload,
  heartbeat,
  start: { whole: start },
};
