export { gatewayPayment } from './gateway-payment.ts';
export { redeliverCallbacks, runLedgerChecks, sweepOverduePayments } from './schedules.ts';
export { unmatchedReceipt } from './unmatched-receipt.ts';
