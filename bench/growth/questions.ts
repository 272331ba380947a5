import { reconcileDay } from '../../src/control/reconciliation/reconcile-day.ts';
import { settlePayment } from '../../src/money-in/payments/settle-payment.ts';
import { payoutTextsPlace } from '../../src/money-out/payouts/payout.ts';
import { reservePayout } from '../../src/money-out/payouts/reserve-payout.ts';
import { nextOf, readNext } from '../../src/platform/database/position.ts';
import type { ProviderRecord } from '../../src/platform/gateway/gateway.ts';
import { stampOpening } from '../../src/platform/openings/idempotency-keys.ts';
import { must } from '../../src/shared/assert.ts';
import { newId } from '../../src/shared/ids.ts';
import type { Dependencies } from '../../src/wiring/dependencies.ts';
import { paymentKinds } from '../../src/wiring/kinds.ts';
import { backgroundQuestions, type Owner } from './background.ts';
import { failed, nobody, type Page, type Question } from './question.ts';

/** The owners and resources whose data is read. */
export interface Subjects {
  platform: string;
  person: { token: string; accountId: string };
  partner: { id: string; get: (path: string) => Promise<Response> };
  /** A cause with many donations. */
  causeId: string;
  circleId: string;
  batchId: string;
  /** The instant at a tenth of the year, ISO 8601 with microseconds. */
  early: string;
  /** A day of UTC+7 in the middle of the year. */
  day: string;
  /** An old payment and an old payout of the partner. */
  paymentId: string;
  payoutId: string;
  /** Open orders, to be settled. */
  orders: { id: string; methodId: string }[];
  /** The provider's records of the day. */
  records: ProviderRecord[];
}

interface Answer {
  data?: Record<string, unknown>;
}

/** The number of rows in a response: the length of its first array. */
async function rowsOf(response: Response): Promise<number> {
  return (await pageOf(response)).answer;
}

/** The two response envelopes of lists. */
const totalOf = (page: Record<string, unknown>): number => Number(page.total ?? page.count ?? 0);

async function pageOf(response: Response): Promise<Page> {
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  const { data, ...envelope } = (await response.json()) as Answer;
  const page = data ?? envelope;
  const rows = Object.values(page).find(Array.isArray) ?? data;
  return { answer: Array.isArray(rows) ? rows.length : 1, total: totalOf(page) };
}

type Reader = 'person' | 'platform' | 'partner';

/**
 * Every list of the API, by caller, named as in the OpenAPI document, with a filter where it has one. Of each list the
 * first page, a deep page and, with a filter, a filtered page are read.
 */
export const lists: readonly (readonly [as: Reader, path: string, filter?: string])[] = [
  ['person', '/v1/accounts', 'kind=user'],
  ['person', '/v1/transactions', 'type=price'],
  ['person', '/v1/payments/orders'],
  ['person', '/v1/addresses/mine'],
  ['person', '/v1/donations'],
  ['person', '/v1/donations/subscriptions'],
  ['person', '/v1/saving-circles', 'status=active'],
  ['person', '/v1/saving-goals', 'status=active'],
  ['person', '/v1/withdrawals', 'status=succeeded'],
  ['person', '/v1/bank-accounts'],
  ['person', '/v1/documents', 'product_type=charitable_cause'],
  ['person', '/v1/documents/type/{type}'],
  ['person', '/v1/official-documents'],
  ['person', '/v1/charitable-causes', 'discover=true'],
  ['platform', '/v1/accounts', 'kind=user'],
  ['platform', '/v1/transactions', 'reference_type=donation'],
  ['platform', '/v1/payments/orders'],
  ['platform', '/v1/events', 'event=RESOURCE_UPDATED'],
  ['platform', '/v1/users', 'user_type=individual'],
  ['platform', '/v1/acl/roles', 'user_type=platform'],
  ['platform', '/v1/acl/permissions'],
  ['platform', '/v1/charitable-causes', 'status=active'],
  ['platform', '/v1/charitable-causes/{id}/disbursements', 'status=succeeded'],
  ['platform', '/v1/donations/open'],
  ['platform', '/v1/products', 'kind=investment'],
  ['platform', '/v1/saving-circles', 'status=active'],
  ['platform', '/v1/saving-circles/{id}/contributions'],
  ['platform', '/v1/partner-accounts'],
  ['platform', '/v1/partner-accounts/{id}/webhook-endpoints', 'status=enabled'],
  ['platform', '/v1/partner-accounts/{id}/webhook-deliveries', 'status=delivered'],
  ['platform', '/v1/addresses'],
  ['platform', '/v1/organizations'],
  ['platform', '/v1/organizations/sizes'],
  ['platform', '/v1/organizations/industries'],
  ['platform', '/v1/documents/categories'],
  ['platform', '/v1/withdrawals', 'status=succeeded'],
  ['platform', '/v1/payouts/stuck', 'minutes=60'],
  ['platform', '/v1/payouts', 'kind=withdrawal'],
  ['platform', '/v1/partner-payments', 'status=succeeded'],
  ['platform', '/v1/payout-batches', 'status=completed'],
  ['platform', '/v1/payout-batches/{id}/items'],
  ['platform', '/v1/receipts', 'status=suspended'],
  ['platform', '/v1/reconciliations', 'state=open'],
  ['platform', '/v1/decisions', 'status=pending'],
  ['partner', '/v1/partners/payments', 'status=succeeded'],
  ['partner', '/v1/partners/payments/{id}/refunds'],
  ['partner', '/v1/partners/payouts', 'status=succeeded'],
  ['partner', '/v1/partners/instruments', 'status=active'],
  ['partner', '/v1/partners/payout-batches', 'status=completed'],
  ['partner', '/v1/partners/payout-batches/{id}/items'],
  ['partner', '/v1/partners/webhook-endpoints'],
  ['partner', '/v1/partners/webhook-deliveries', 'status=delivered'],
];

/** One list of each kind of paging: these lists' last pages are read by number, too. */
const numbered: ReadonlySet<string> = new Set([
  'person /v1/transactions',
  'person /v1/donations',
  'platform /v1/users',
  'platform /v1/receipts',
  'partner /v1/partners/payments',
]);

function listQuestions(subjects: Subjects, port: number): Question[] {
  const get = (as: Reader, path: string) => {
    if (as === 'partner') return subjects.partner.get(path.replace('/v1/partners', ''));
    const token = as === 'person' ? subjects.person.token : subjects.platform;
    return fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } });
  };
  const { causeId, circleId, batchId, partner, paymentId } = subjects;
  const ids: Record<string, string> = {
    'charitable-causes': causeId,
    'saving-circles': circleId,
    'partner-accounts': partner.id,
    payments: paymentId,
    'payout-batches': batchId,
    type: 'image',
  };
  /** A position in a list: the ids of most lists are UUIDs, those of some are numbers. */
  const placeIn = (path: string) =>
    `${subjects.early} ${path === '/v1/official-documents' ? '9223372036854775807' : 'ffffffff-ffff-4fff-bfff-ffffffffffff'}`;
  /** The query of a client that has followed `next` deep into the list; for a list of one page, that page. */
  const readOnTo = async (as: Reader, path: string): Promise<string> => {
    const { data, ...envelope } = (await (await get(as, path)).json()) as Answer & { next?: string };
    const { next } = (data ?? envelope) as { next?: string };
    return next === undefined ? '' : `?after=${nextOf(placeIn(path), readNext(next)?.counted)}`;
  };
  /** The number of the page with the oldest rows. */
  const lastPage = async (as: Reader, path: string): Promise<number> => {
    const { data, ...envelope } = (await (await get(as, path)).json()) as Answer;
    const page: Record<string, unknown> = data ?? envelope;
    return Math.max(1, Math.ceil(totalOf(page) / Number(page.limit)));
  };
  return lists.flatMap(([as, named, filter]) => {
    const path = named.replace(/([a-z-]+)\/\{\w+\}/, (_, of: string) => `${of}/${must(ids[of], `an id of ${of}`)}`);
    let deep: Promise<string> | undefined;
    const pages: [name: string, query: () => string | Promise<string>][] = [
      ['first', () => ''],
      [
        'deep',
        () => {
          deep ??= readOnTo(as, path);
          return deep;
        },
      ],
    ];
    if (filter !== undefined) pages.push(['filtered', () => `?${filter}`]);
    if (numbered.has(`${as} ${named}`)) pages.push(['by number', async () => `?page=${await lastPage(as, path)}`]);
    return pages.map(([name, query]) => ({
      name: `${as} ${named.replace(/^\/v1/, '')}, ${name}`,
      countsTotal: true,
      ask: async () => pageOf(await get(as, `${path}${await query()}`)),
    }));
  });
}

/** Statements, settlements, timelines, balances and limits. */
function storyQuestions({ person, partner, day, ...subjects }: Subjects, port: number): Question[] {
  const until = new Date(Date.parse(`${day}T00:00:00+07:00`) + 3 * 24 * 60 * 60 * 1000).toISOString();
  const lines = async (response: Response) => {
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    return (await response.text()).trim().split('\n').length;
  };
  const csv = { headers: { authorization: `Bearer ${person.token}`, accept: 'text/csv' } };
  const statement = `http://127.0.0.1:${port}/v1/accounts/${person.accountId}/statement`;
  return [
    { name: 'statement of an old account, whole', ask: async () => lines(await fetch(statement, csv)) },
    {
      name: 'statement of an old account, three days long ago',
      ask: async () =>
        lines(await fetch(`${statement}?from=${day}T00:00:00%2B07:00&to=${encodeURIComponent(until)}`, csv)),
    },
    {
      // A statement of one minute must not read earlier or later postings.
      name: 'statement of an old account, a minute long ago',
      ask: async () => lines(await fetch(`${statement}?from=${day}T00:00:00%2B07:00&to=${day}T00:01:00%2B07:00`, csv)),
    },
    {
      name: 'settlement of a partner, a day long ago',
      ask: async () => {
        const response = await partner.get(`/settlements/${day}`);
        if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
        return (await response.text()).split('journal_id').length;
      },
    },
    {
      name: 'timeline of a payment',
      ask: async () => rowsOf(await partner.get(`/payments/${subjects.paymentId}/timeline`)),
    },
    {
      name: 'timeline of a payout',
      ask: async () => rowsOf(await partner.get(`/payouts/${subjects.payoutId}/timeline`)),
    },
    { name: 'balance of a partner', ask: async () => rowsOf(await partner.get('/balance')) },
    { name: 'limits of a partner', ask: async () => rowsOf(await partner.get('/limits')) },
  ];
}

/** Operations that move or reconcile money. */
function moneyQuestions(subjects: Subjects, deps: Dependencies): Question[] {
  const em = () => deps.orm.em.fork();
  return [
    {
      name: 'reservation of a payout of the big partner',
      async ask() {
        const id = newId();
        const texts = { bank_account_number: '1234567890', beneficiary_name: 'Budi', external_ref: null };
        const textsSealed = await deps.sealer.seal(payoutTextsPlace(id), JSON.stringify(texts));
        const money = { amount: '10000.0000', fee: '500.0000', net: '9500.0000', providerFee: '0.0000' };
        const idempotency = { keyHash: id, fingerprint: 'f' };
        const of = { partnerId: subjects.partner.id, feeMode: 'DEDUCTED', bankCode: 'BCA', requestId: id } as const;
        const opening = { ...of, ...money, textsSealed, idempotency, stamp: await stampOpening(em()) };
        await reservePayout(em(), deps.sealer, { payoutId: id, opening });
        return 1;
      },
    },
    {
      name: 'settlement of a top-up',
      async ask() {
        const { id, methodId } = must(subjects.orders.pop(), 'there are open orders');
        const payment = { providerPaymentId: `py-${id}`, providerPaymentMethodId: methodId, amount: '101000.0000' };
        await settlePayment(em(), { orderId: id, payment }, { paymentKinds, workflows: nobody });
        return 1;
      },
    },
    {
      name: 'reconciliation of a day',
      async ask() {
        const gateway = new Proxy(deps.gateways.of('xendit'), {
          get: (target, name) =>
            name === 'listRecords'
              ? async function* () {
                  for (let from = 0; from < subjects.records.length; from += 100)
                    yield subjects.records.slice(from, from + 100);
                }
              : Reflect.get(target, name),
        });
        const { open } = await reconcileDay(
          em(),
          { ...deps, gateways: { ...deps.gateways, of: () => gateway }, workflows: nobody, failed },
          { day: subjects.day, takenBy: newId() },
        );
        if (open > 0) throw new Error(`${open} differences`);
        return subjects.records.length;
      },
    },
  ];
}

/** Every request sent to a grown database, in an order in which no request affects later ones. */
export function questionsOf(
  subjects: Subjects,
  { deps, port, ...owner }: { deps: Dependencies; port: number } & Owner,
): Question[] {
  return [
    ...listQuestions(subjects, port),
    ...storyQuestions(subjects, port),
    ...moneyQuestions(subjects, deps),
    ...backgroundQuestions(owner, deps),
  ];
}
