import { budgets } from '../src/shared/budgets.ts';

/** Timeouts and retries of the steps of all workflows; almost every timeout is a budget of `budgets.ts`. */

/** Local and short, because a request waits for it. */
export const firstStep = {
  startToCloseTimeout: budgets.steps.first,
  retry: { initialInterval: '100 milliseconds', maximumInterval: '5 seconds' },
} as const;

/** A short, idempotent database transaction. */
export const ledgerStep = {
  startToCloseTimeout: budgets.steps.ledger,
  retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds' },
} as const;

/** For longer transactions, which heartbeat while they wait for locks: a missing heartbeat reveals a dead attempt. */
const beating = { heartbeatTimeout: budgets.heartbeat.missing } as const;
export const allocationStep = {
  ...beating,
  startToCloseTimeout: budgets.steps.allocation,
  retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds' },
} as const;
export const subscriptionStep = {
  ...beating,
  startToCloseTimeout: budgets.steps.subscriptionPeriod,
  retry: { initialInterval: '200 milliseconds', maximumInterval: '1 minute' },
} as const;

/** A call to the provider that may go unanswered; a failed call is retried under the same key. */
export const providerStep = {
  startToCloseTimeout: budgets.steps.provider,
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
} as const;
/** As `providerStep`, for payments, whose payers have hours. */
export const patientProviderStep = {
  startToCloseTimeout: budgets.steps.provider,
  retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
} as const;
/** Each attempt times out just before a waiting request does. */
export const instrumentStep = { ...patientProviderStep, startToCloseTimeout: budgets.steps.instrument } as const;
/** The first attempt is local, which saves the request a task queue round trip. */
export const firstInstrumentStep = {
  startToCloseTimeout: budgets.steps.instrument,
  retry: { maximumAttempts: 1 },
} as const;
/** Few attempts: even if the instrument cannot be expired, the provider is asked for payments. */
export const expiryStep = {
  startToCloseTimeout: budgets.steps.provider,
  scheduleToCloseTimeout: 4 * budgets.steps.provider,
  retry: { initialInterval: '1 second', maximumAttempts: 3 },
} as const;

/** An attempt to deliver a webhook; retries cover failures of our database, not of the receiver. */
export const webhookStep = {
  startToCloseTimeout: budgets.steps.webhook,
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
} as const;

/** Retried for as long as the keys or the file store are down, because the decision must be carried out. */
export const erasureStep = {
  startToCloseTimeout: budgets.steps.sweep,
  retry: { initialInterval: '1 second', maximumInterval: '10 minutes' },
} as const;

/** Scheduled sweeps: few retries, because the next run is soon. */
export const sweepStep = {
  startToCloseTimeout: budgets.steps.sweep,
  retry: { initialInterval: '1 second', maximumAttempts: 3 },
} as const;
/**
 * Checks one view at a time, which takes minutes once the books are large. All attempts share this time, so that a slow
 * view delays the others only once.
 */
export const checksStep = {
  ...sweepStep,
  ...beating,
  startToCloseTimeout: budgets.steps.checks,
  scheduleToCloseTimeout: budgets.steps.checks,
} as const;

/**
 * Daily jobs; the next run does the rest. Finding the days is retried for twenty minutes, the long steps for hours,
 * while the provider or the file store is unavailable. Long steps heartbeat, and a retry resumes where the last attempt
 * stopped.
 */
export const daysStep = {
  startToCloseTimeout: budgets.steps.sweep,
  retry: { initialInterval: '1 second', maximumInterval: '5 minutes', maximumAttempts: 12 },
} as const;
export const reconciliationStep = {
  ...beating,
  startToCloseTimeout: budgets.steps.reconciliation,
  retry: { initialInterval: '1 second', maximumInterval: '5 minutes', maximumAttempts: 90 },
} as const;
export const sealStep = { ...reconciliationStep, startToCloseTimeout: budgets.steps.seal } as const;
export const clearingStep = {
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 minute', maximumInterval: '1 hour', maximumAttempts: 12 },
} as const;
