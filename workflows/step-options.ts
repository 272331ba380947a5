import { budgets } from '../src/shared/budgets.ts';

/** How long the steps of all workflows may take, and how they are tried again; every wait is a budget of `budgets.ts`. */

/** Local and short, as a request waits for it. */
export const firstStep = {
  startToCloseTimeout: budgets.steps.first,
  retry: { initialInterval: '100 milliseconds', maximumInterval: '5 seconds' },
} as const;

/** One short database transaction, which does its work once however often it is tried. */
export const ledgerStep = {
  startToCloseTimeout: budgets.steps.ledger,
  retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds' },
} as const;

/** A longer transaction. It beats while it waits for locks: one that died is found out by the missing beat. */
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

/** A question to the provider, whose silence is an answer; one that cannot be asked is asked again under the same key. */
export const providerStep = {
  startToCloseTimeout: budgets.steps.provider,
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
} as const;
/** The same where a payer has hours. */
export const patientProviderStep = {
  startToCloseTimeout: budgets.steps.provider,
  retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
} as const;
/** As long as a request waits for the answer. */
export const instrumentStep = { ...patientProviderStep, startToCloseTimeout: budgets.steps.instrument } as const;
/** A few times: what was paid is asked for although its instrument cannot be expired. */
export const expiryStep = {
  startToCloseTimeout: budgets.steps.provider,
  scheduleToCloseTimeout: 4 * budgets.steps.provider,
  retry: { initialInterval: '1 second', maximumAttempts: 3 },
} as const;

/** One attempt at a receiver of webhooks; a retry is for our database, not for the receiver. */
export const webhookStep = {
  startToCloseTimeout: budgets.steps.webhook,
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
} as const;

/** What a schedule does: the next run comes soon. */
export const sweepStep = {
  startToCloseTimeout: budgets.steps.sweep,
  retry: { initialInterval: '1 second', maximumAttempts: 3 },
} as const;
export const checksStep = { ...sweepStep, startToCloseTimeout: budgets.steps.checks } as const;

/**
 * Of what comes once a day: provider or file store that are away are asked for hours, and what is still missing then is
 * taken by the next run. A long one beats, and the next attempt goes on where the last one stopped.
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
