import type { EntityManager } from '@mikro-orm/postgresql';
import pg from 'pg';
import { keysUrlBeside } from '../../dev/postgres.ts';
import { sweepCircles } from '../../src/circles/sweep-circles.ts';
import { continueErasure } from '../../src/control/erasure/continue-erasure.ts';
import { judgeClearing, measureClearing } from '../../src/control/reconciliation/compare-clearing.ts';
import { findDaysToReconcile } from '../../src/control/reconciliation/reconciled-days.ts';
import { sweepSubscriptions } from '../../src/giving/donations/sweep-subscriptions.ts';
import { makeSeal } from '../../src/ledger/seals/make-seal.ts';
import { hashOfSeal, sealFormat } from '../../src/ledger/seals/seal.ts';
import { redeliverCallbacks } from '../../src/money-in/callbacks/deliver-callback.ts';
import { sweepOverduePayments } from '../../src/money-in/callbacks/sweep-overdue-payments.ts';
import { sweepReceipts } from '../../src/money-in/callbacks/sweep-receipts.ts';
import { sweepDecisions } from '../../src/money-out/decisions/carry-out.ts';
import { sweepPayouts } from '../../src/money-out/payouts/sweep-payouts.ts';
import { destroyOrderKeys } from '../../src/partners/destroy-order-keys.ts';
import { sweepDeliveries } from '../../src/partners/webhooks/redeliver-webhook.ts';
import { placeOfUpload } from '../../src/people/documents/abandon-upload.ts';
import { placeOfUrl } from '../../src/people/documents/document.ts';
import { sweepUploads } from '../../src/people/documents/sweep-uploads.ts';
import { settleKeys } from '../../src/people/identity/settle-keys.ts';
import type { Storage } from '../../src/platform/storage/storage.ts';
import { must } from '../../src/shared/assert.ts';
import { sha256 } from '../../src/shared/digest.ts';
import { newId } from '../../src/shared/ids.ts';
import type { Money } from '../../src/shared/money.ts';
import type { Dependencies } from '../../src/wiring/dependencies.ts';
import { forgetOldRows } from '../../src/wiring/forget-old-rows.ts';
import { readBacklog } from '../../src/wiring/measure-backlog.ts';
import { failed, nobody, type Question } from './question.ts';

/** Access as the database's owner, the only role that may make rows due. */
export interface Owner {
  databaseUrl: string;
  owner(): EntityManager;
}

/** A file store that already has every object: the benchmark measures only database reads. */
const nothing = { async *list() {} } as Partial<Storage> as Storage;
const storage = new Proxy(nothing, {
  get: (target, name) =>
    name === 'list'
      ? target.list
      : async () => (name === 'find' ? { contentType: 'text/plain', sizeBytes: 1, sha256: '' } : undefined),
});

/** How many rows of each kind are made due, in both the large and the small database. */
const most = 20;

/** A background step, how rows become due for it, and how often it runs before it is measured. */
interface Step {
  run: (em: EntityManager) => Promise<number>;
  due?: string[] | ((tx: EntityManager) => Promise<void>);
  before?: number;
}

const some = (table: string, where: string, order: string) =>
  `id in (select id from ${table} where ${where} order by ${order} limit ${most})`;

const hourAgo = "now() - interval '1 hour'";

/** The scheduled sweeps; no workflow is woken. */
function sweepsOf(deps: Dependencies): Record<string, Step> {
  return {
    callbacks: {
      run: (em) => redeliverCallbacks(em, nobody, failed),
      due: [`update gateway_callbacks set delivered_at = null where ${some('gateway_callbacks', 'true', 'id desc')}`],
    },
    'overdue payments': {
      run: (em) => sweepOverduePayments(em, nobody, failed),
      due: [
        ...['payment_orders', 'partner_payments'].map(
          (table) =>
            `update ${table} set expires_at = ${hourAgo} where ${some(table, "status = 'WAITING_PAYMENT'", 'expires_at')}`,
        ),
        `update partner_payments set available_at = ${hourAgo}
         where ${some('partner_payments', "status = 'PAID' and released_at is null", 'available_at')}`,
        `update partner_instruments set look_again_at = ${hourAgo}
         where ${some('partner_instruments', "status = 'active'", 'created_at desc')}`,
      ],
    },
    receipts: { run: (em) => sweepReceipts(em, nobody, failed), due: [] },
    'decisions and erasures': {
      run: (em) => sweepDecisions(em, { ...deps, workflows: nobody }, failed),
      due: [
        "update decisions set status = 'pending', reason = null, ended_at = null where status = 'lapsed'",
        `insert into erasures (id, user_id, status) select uuidv7(), id, 'waiting' from users
         where user_type = 'individual' order by created_at desc limit ${most} on conflict do nothing`,
      ],
    },
    payouts: {
      run: (em) => sweepPayouts(em, nobody, failed),
      due: [
        `update payouts set look_again_at = ${hourAgo} where ${some('payouts', 'true', 'created_at desc')}`,
        `update payout_batches set look_again_at = ${hourAgo} where look_again_at is not null`,
      ],
    },
    circles: {
      run: (em) => sweepCircles(em, nobody, failed),
      due: [
        `update saving_circle_rounds set due_at = ${hourAgo}, look_at = ${hourAgo} where saving_circle_id in (
           select saving_circle_id from saving_circle_rounds where paid_at is null order by 1 limit ${most})
           and paid_at is null`,
        `update saving_circle_contributions set swept_at = null
         where ${some('saving_circle_contributions', 'true', 'id desc')}`,
      ],
    },
    subscriptions: {
      run: (em) => sweepSubscriptions(em, nobody, failed),
      due: [
        `update donation_subscriptions set started_at = started_at - interval '35 days'
         where ${some('donation_subscriptions', "status = 'active'", 'started_at')}`,
      ],
    },
    deliveries: {
      run: (em) => sweepDeliveries(em, nobody, failed),
      due: [
        `update webhook_deliveries set status = 'pending', delivered_at = null, next_attempt_at = ${hourAgo}
         where ${some('webhook_deliveries', 'true', 'id desc')}`,
      ],
    },
    uploads: {
      run: (em) => sweepUploads(em, { ...deps, storage }),
      async due(tx) {
        for (let upload = 0; upload < most; upload += 1) {
          const id = newId();
          const url = await deps.sealer.seal(placeOfUpload(id), `documents/nobody/${id}`);
          await tx.execute(
            `insert into document_uploads (id, user_id, url_sealed, created_at)
             select ?, id, ?, now() - interval '10 minutes' from users order by created_at limit 1`,
            [id, url],
          );
        }
      },
    },
    'waiting rows, for the metrics': { run: (em) => readBacklog(em).then(() => 1) },
    'days to reconcile': {
      run: async (em) =>
        (await findDaysToReconcile(em, { names: ['xendit'] }, { at: new Date().toISOString() })).length,
    },
    retention: { run: (em) => forgetOldRows(em, { bodiesKeptDays: 30 }), before: 0 },
  };
}

/** The workflow steps that read more than one row's data. */
function stepsOf({ databaseUrl }: Owner, deps: Dependencies): Record<string, Step> {
  const { sealer, personalKeys, sealKeys, config } = deps;
  const withKeys = async (sql: string) => {
    const client = new pg.Client({ connectionString: keysUrlBeside(databaseUrl) });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  const leaver = newId();
  const erasure = newId();
  return {
    'seal of what is not sealed yet': {
      before: 0,
      // The year's seals were not signed with our key: the last one is signed again, so that the next can follow it.
      async due(tx) {
        const [last] = await tx.execute<{ number: number; at: string }[]>(
          'select number, sealed_at::text as at from seals order by number desc limit 1',
        );
        const { number, at } = must(last, 'there are seals');
        const of = { format: sealFormat, chain: newId(), number: Number(number), previous: null } as const;
        const jws = await sealKeys.sign({ ...of, sealed_at: at, covers_until: at, journals: 0, manifest: sha256('') });
        await tx.execute('update seals set jws = ?, hash = ? where number = ?', [jws, hashOfSeal(jws), number]);
      },
      async run(em) {
        let sealed = 0;
        for (;;) {
          const { journals, done } = await makeSeal(em, { storage, keys: sealKeys }, 'bench');
          sealed += journals;
          if (done) return sealed;
        }
      },
    },
    'comparison of clearing': {
      async run(em) {
        const gateways = { ...deps.gateways, readBalance: async () => '1.0000' as Money };
        await judgeClearing(em, await measureClearing(em, gateways, { signal: AbortSignal.timeout(60_000) }));
        return 1;
      },
    },
    'erasure of a person': {
      before: 0,
      async due(tx) {
        await tx.execute(
          `insert into users (id, user_type, role_id, status, password_sealed)
           select ?, 'individual', id, 'active', 'none' from roles where name = 'individual_user'`,
          [leaver],
        );
        for (let number = 0; number < most; number += 1) {
          const id = newId();
          await tx.execute(
            `insert into documents (id, url_sealed, url_hash, document_type, visibility, content_type, size_bytes, created_by)
             values (?, ?, ?, 'image', 'private', 'image/png', 1, ?)`,
            [
              id,
              await sealer.seal(placeOfUrl(id), `documents/${leaver}/${id}`),
              sha256(`documents/${leaver}/${id}`),
              leaver,
            ],
          );
        }
        await tx.execute(
          "insert into erasures (id, user_id, status, begun_at) values (?, ?, 'waiting', now() - interval '1 year')",
          [erasure, leaver],
        );
      },
      async run(em) {
        const { status } = await continueErasure(em, { config, storage, sealer, personalKeys }, erasure);
        if (status !== 'erased') throw new Error(`the person is not erased: ${status}`);
        return most;
      },
    },
    'settling of keys of people': {
      before: 0,
      async due(tx) {
        const users = await tx.execute<{ id: string }[]>(`select id from users order by created_at limit ${most}`);
        for (const { id } of users) await personalKeys.make(id);
        await withKeys("update personal_keys set look_after = now() - interval '1 hour' where not is_settled");
      },
      run: (em) => settleKeys(em, personalKeys),
    },
    'destruction of keys of orders': {
      before: 0,
      async due(tx) {
        const orders = await tx.execute<{ id: string }[]>(
          `(select id from partner_payments where status = 'PAID' order by created_at limit ${most / 2})
           union all (select id from payouts where status = 'succeeded' order by created_at limit ${most / 2})`,
        );
        for (const { id } of orders) await personalKeys.orders.make(id);
        await withKeys("update order_keys set kept_since = now() - interval '300 days' where erased_at is null");
      },
      run: (em) => destroyOrderKeys(em, personalKeys, 180),
    },
  };
}

/** All background work, with about as many due rows in the large database as in the small one. */
export function backgroundQuestions(owner: Owner, deps: Dependencies): Question[] {
  const asked = (kind: string, steps: Record<string, Step>) =>
    Object.entries(steps).map(([name, { run, due, before = 2 }]): Question => {
      let isDue = false;
      const prepare = async () => {
        if (due === undefined) return;
        isDue = true;
        await owner.owner().transactional(async (tx) => {
          await tx.execute("set local session_replication_role = 'replica'");
          if (typeof due === 'function') await due(tx);
          else for (const sql of due) await tx.execute(sql);
          // Makes rows seen before the measurement due again.
          await tx.execute('delete from sweep_looks');
        });
      };
      const ask = async () => {
        const found = await run(deps.orm.em.fork());
        if (isDue && found === 0) throw new Error('nothing was due');
        return Math.max(1, found);
      };
      return { name: `${kind}${name}`, before, prepare, ask };
    });
  return [...asked('sweep: ', sweepsOf(deps)), ...asked('step: ', stepsOf(owner, deps))];
}
