import { setTimeout as sleep } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Config } from '../../platform/config/config.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { renewClaim, type Sweep, sweepRows } from '../../platform/housekeeping/sweep-rows.ts';
import { counter, type Metrics } from '../../platform/metrics/metrics.ts';
import type { Logger } from '../../platform/process/log.ts';
import { deliverMail } from './deliver-mail.ts';
import { mailLaw } from './mail.ts';
import { createMailSender } from './send-mail.ts';
import { tellManyMore } from './tell-many.ts';

const lookEveryMs = 1_000;
/** A mail server may take longer to accept a message than a claim lasts (a minute). */
const renewEveryMs = 5_000;
/** The longest wait between two attempts. */
const longestWaitMinutes = 12 * 60;

/** Pending messages. */
const due = "select id, created_at as since from mails where status = 'pending'";

interface MailPorts {
  config: Pick<Config, 'SMTP_URL' | 'MAIL_FROM' | 'PUBLIC_URL'>;
  orm: MikroORM;
  sealer: Sealer;
  metrics: Metrics;
  log: Logger;
}

/**
 * Sends pending messages within a second or two, until disposed of. Claims them as `sweepRows` does: workers share
 * them, others take over a dead worker's messages, and a message that cannot be sent is retried at growing intervals.
 * No workflow is needed, so messages are sent even while Temporal is down. Without SMTP_URL nothing is sent.
 */
export function keepMailSent({ config, orm, sealer, metrics, log }: MailPorts): AsyncDisposable {
  const { SMTP_URL: url, MAIL_FROM: from, PUBLIC_URL: publicUrl } = config;
  if (url === undefined || from === undefined) {
    log.warn('SMTP_URL is not set: no messages are sent');
    return { [Symbol.asyncDispose]: async () => undefined };
  }
  const attempts = counter(
    metrics,
    'amanah_mail_attempts_total',
    'Attempts to send messages by outcome: sent, pending (retried later), parked, silenced (its recipient no longer receives it).',
    ['status'],
  );
  for (const status of mailLaw.statuses) attempts.inc({ status }, 0);
  const sender = createMailSender({ url, from });
  const wake = async (id: string) => {
    const renewing = setInterval(() => void renewClaim(orm.em.fork(), 'mail', id).catch(() => undefined), renewEveryMs);
    try {
      attempts.inc({ status: await deliverMail(orm.em.fork(), { sealer, sender, publicUrl }, id) });
    } finally {
      clearInterval(renewing);
    }
  };
  const sweep: Sweep = { kind: 'mail', due, longestWaitMinutes, wake };
  const stopped = new AbortController();
  const run = async () => {
    while (!stopped.signal.aborted) {
      await sweepRows(orm.em.fork(), [sweep], (_, id, error) => {
        attempts.inc({ status: 'pending' });
        log.warn({ err: error, id }, 'a message could not be sent and will be retried');
      })
        // Record one batch of a round after the pending messages were sent.
        .then(() => tellManyMore(orm.em.fork()))
        .catch((error: unknown) => log.warn({ err: error }, 'pending messages could not be read; retrying'));
      await sleep(lookEveryMs, undefined, { signal: stopped.signal, ref: false }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await running;
      sender.close();
    },
  };
}
