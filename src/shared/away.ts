import { errorCodeOf } from './errors.ts';

const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
]);
// 57P: operator intervention (shutdown, cannot connect now); 08: connection; 53: out of disk, memory or connections;
// 58030: disk I/O error; 25006: a read-only standby; 40001, 40P01: serialization failure or deadlock, may be retried;
// 55P03, 57014, 25P03, 25P04: lock, statement, idle and transaction time-outs.
const databaseAway = /^(08...|57P0[1-5]|57014|53...|58030|55P03|25006|25P0[34]|40001|40P01)$/;
const poolExhausted =
  /timeout exceeded when trying to connect|connection terminated|client has encountered a connection error/i;

/** Whether the error means that a dependency is unavailable, so that a later retry makes sense. */
export const isAway = (error: unknown): boolean =>
  // KEYS_AWAY is the error of the keys database.
  isOfCause(error, (code) => code === 'KEYS_AWAY' || networkCodes.has(code) || databaseAway.test(code), poolExhausted);

const lostCodes = /^(08...|57P0[1-3]|ECONNRESET|EPIPE|ETIMEDOUT)$/;
// A connection that was never established carried no statement.
const lostConnection = /connection terminated(?! due to connection timeout)/i;

/** Whether the connection was lost during a statement, so that its outcome is unknown. */
export const isLostConnection = (error: unknown): boolean =>
  isOfCause(error, (code) => lostCodes.test(code), lostConnection);

/** Whether the error, or one of its causes, has such a code or message. */
function isOfCause(error: unknown, isCode: (code: string) => boolean, message: RegExp, depth = 0): boolean {
  const code = errorCodeOf(error);
  if (typeof code === 'string' && isCode(code)) return true;
  if (typeof error !== 'object' || error === null) return false;
  if ('message' in error && typeof error.message === 'string' && message.test(error.message)) return true;
  return depth < 4 && 'cause' in error && isOfCause(error.cause, isCode, message, depth + 1);
}
