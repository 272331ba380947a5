import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import { OutOfTime, timeLeft } from '../../platform/database/time-limit.ts';
import { budgets } from '../../shared/budgets.ts';
import { errorCodeOf } from '../../shared/errors.ts';
import {
  complaintAboutTarget,
  hostOf,
  isPermittedAddress,
  lookUpAddresses,
  type TargetRules,
} from './webhook-target.ts';

const totalTimeoutMs = budgets.webhook.sending;
/** How much of a response body is read; none of it is stored. */
const answerLimitBytes = 4_096;
const answerHeadersLimitBytes = 16_384;
const longestRetryAfterMs = 24 * 60 * 60 * 1000;
const connectTimeOut = 'UND_ERR_CONNECT_TIMEOUT';

export interface SentWebhook {
  /** The receiver's status; null without a response. */
  status: number | null;
  /** Why there was no response, in a few words; otherwise null. */
  error: string | null;
  /** The receiver's `Retry-After`, in milliseconds; 0 if absent. */
  retryAfterMs: number;
  /** Whether the request timed out. */
  timedOut: boolean;
}

/** The result if nothing was sent or no response came, for a reason other than a time-out. */
export const unanswered = (error: string): SentWebhook => ({ status: null, error, retryAfterMs: 0, timedOut: false });

export type WebhookSender = (url: string, headers: Record<string, string>, body: string) => Promise<SentWebhook>;

class RefusedAddress extends Error {
  readonly code = 'ADDRESS_REFUSED';
}

class UnknownName extends Error {
  readonly code = 'ENOTFOUND';
}

/**
 * Sends webhooks to permitted addresses only: checks the literal address, every address that the name resolves to, and
 * the one connected to. Follows no redirects; limits the size and time of responses.
 */
export function createWebhookSender(rules: TargetRules): WebhookSender {
  const isPermitted = (address: string) => isPermittedAddress(address, rules);
  const lookup: LookupFunction = (hostname, options, callback) => {
    void lookUpAddresses(hostname).then((found) => {
      const addresses = found.map((address) => ({ address, family: isIP(address) }));
      const [first] = addresses;
      if (first === undefined) return callback(new UnknownName(hostname), '', 0);
      if (!found.every(isPermitted)) return callback(new RefusedAddress('lookup'), '', 0);
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
  const connect = buildConnector({ timeout: budgets.reach.webhook, lookup });
  const dispatcher = new Agent({
    // A reused connection's address would have been checked long ago, so each webhook opens a new connection.
    pipelining: 0,
    maxHeaderSize: answerHeadersLimitBytes,
    headersTimeout: totalTimeoutMs,
    bodyTimeout: totalTimeoutMs,
    connect(options, callback) {
      if (isIP(options.hostname) !== 0 && !isPermitted(options.hostname)) {
        return callback(new RefusedAddress('literal'), null);
      }
      connect(options, (error, socket) => {
        if (error || socket === null) return callback(error ?? new RefusedAddress('no socket'), null);
        if (isPermitted(socket.remoteAddress ?? '')) return callback(null, socket);
        socket.destroy();
        return callback(new RefusedAddress('connected'), null);
      });
    },
  });
  return async (url, headers, body) => {
    const target = new URL(url);
    const literal = isIP(hostOf(target)) === 0 ? [] : [hostOf(target)];
    const isHttp = target.protocol === 'http:' && literal.length === 0;
    // If loopback is allowed, a name over http is checked only when resolved: the lookup refuses private addresses.
    const complaint = isHttp && rules.allowLoopback ? null : complaintAboutTarget(target, literal, rules);
    if (complaint !== null) return unanswered('address refused');
    // Temporal may start another attempt when the step times out, so send no request that cannot complete by then.
    if (timeLeft() < totalTimeoutMs) throw new OutOfTime();
    try {
      const signal = AbortSignal.timeout(totalTimeoutMs);
      const answer = await request(target, { method: 'POST', headers, body, dispatcher, signal });
      await answer.body.dump({ limit: answerLimitBytes, signal }).catch(() => undefined);
      const retryAfterMs = retryAfterOf(answer.headers['retry-after']);
      return { status: answer.statusCode, error: null, retryAfterMs, timedOut: false };
    } catch (error) {
      return { ...unanswered(describe(error)), timedOut: isTimeOut(error) };
    }
  };
}

function retryAfterOf(header: string | string[] | undefined): number {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined) return 0;
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(0, seconds * 1000), longestRetryAfterMs) : 0;
}

function describe(error: unknown): string {
  const code = errorCodeOf(error);
  if (code === 'ADDRESS_REFUSED') return 'address refused';
  if (code !== connectTimeOut && isTimeOut(error)) return 'no answer in time';
  return typeof code === 'string' ? code : 'no answer';
}

function isTimeOut(error: unknown): boolean {
  if (errorCodeOf(error) === connectTimeOut) return true;
  return Error.isError(error) && (error.name === 'TimeoutError' || error.name === 'AbortError');
}
