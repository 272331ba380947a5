import { readFileSync } from 'node:fs';
import type { Facts, Finding } from './facts.ts';
import { listWorkflows } from './harm-workflows.ts';
import { serviceNames } from './parts.ts';
import type { Topology } from './topology.ts';

const longestLine = 400;
const mostLogLines = 60;

/** Rows that name a resource, by its own id or as their subject. */
const tables: Record<string, string> = {
  payment_orders: 'id',
  partner_payments: 'id',
  partner_instruments: 'id',
  payout_batches: 'id',
  payouts: 'id',
  payment_refunds: 'id',
  payout_attempts: 'payout_id',
  payout_words: 'payout_id',
  receipts: 'reference',
  transactions: 'id',
  requests: 'resource_id',
  saving_circles: 'id',
  saving_circle_contributions: 'payment_order_id',
  donations: 'payment_order_id',
  donation_subscriptions: 'id',
  webhook_deliveries: 'resource_id',
  gateway_callbacks: 'reference',
  'torture.transitions': 'row_id',
};

interface Told {
  at: number;
  says: string;
}

const cut = (text: string): string => (text.length > longestLine ? `${text.slice(0, longestLine)}...` : text);

/** Returns everything known about a resource by time: rows, events, postings, workflow history, requests, faults. */
export async function tellStory(
  topology: Topology,
  { resourceId }: Finding,
  { facts, notes }: { facts: Facts; notes: string[] },
): Promise<string> {
  const id = resourceId ?? '';
  const works = new Set(facts.events.filter((event) => event.resourceId === id).map(({ requestId }) => requestId));
  const told: Told[] = [
    ...facts.attempts
      .filter(({ answer, resourceId: made, requestId }) => made === id || works.has(requestId) || answer.includes(id))
      .flatMap(({ requestId, kind, sentAt, endedAt, status, answer }) => [
        { at: sentAt, says: `client: ${kind} ${requestId} is sent` },
        { at: endedAt, says: `client: ${requestId} is answered ${status ?? 'nothing'}: ${cut(answer)}` },
      ]),
    ...notes
      .filter((line) => line.includes(id) || / f\d+(:| is)/.test(line) || line.includes('runs again'))
      .map((line) => ({ at: Date.parse(line.slice(0, 24)), says: `fault: ${line.slice(25)}` })),
    ...(await readEvents(topology, id)),
    ...(await readHistory(topology, id)),
    ...readLogs(topology, id),
  ];
  const lines = told
    .toSorted((one, other) => one.at - other.at)
    .map(({ at, says }) => `  ${new Date(at).toISOString().slice(11, 23)} ${says}`);
  return [...(await readRows(topology, id)), '', ...lines].join('\n');
}

async function readRows({ em, sandbox }: Topology, id: string): Promise<string[]> {
  const lines: string[] = [];
  for (const [table, column] of Object.entries(tables)) {
    const rows = await em()
      .execute<Record<string, unknown>[]>(`select * from ${table} where ${column}::text = ?`, [id])
      .catch((error: unknown) => [{ error: String(error) }]);
    for (const row of rows) lines.push(`  ${table}: ${cut(JSON.stringify(row))}`);
  }
  const { body } = await sandbox.get(`/sandbox/records?reference_id=${id}`);
  lines.push(`  provider: ${cut(JSON.stringify(body))}`);
  return lines;
}

async function readEvents({ em }: Topology, id: string): Promise<Told[]> {
  const events = await em().execute<{ at: string; says: string }[]>(
    `select extract(epoch from coalesce(pg_xact_commit_timestamp(xmin), created_at)) * 1000 as at,
       event || ' ' || resource_type || ' ' || coalesce(data::text, '') || ' for ' || coalesce(request_id, 'nobody') as says
     from events where resource_id = ?
     union all
     select extract(epoch from pg_xact_commit_timestamp(j.xmin)) * 1000, 'journal ' || j.business_key || ': ' ||
       (select string_agg(a.kind || ' ' || p.amount, ', ' order by p.amount) from postings p
        join accounts a on a.id = p.account_id where p.journal_id = j.id)
     from journals j where j.business_key like '%' || ? || '%'`,
    [id, id],
  );
  return events.map(({ at, says }) => ({ at: Number(at), says: `database: ${says}` }));
}

async function readHistory(topology: Topology, id: string): Promise<Told[]> {
  const runs = (
    await listWorkflows(topology, [
      'Running',
      'Completed',
      'Failed',
      'Canceled',
      'Terminated',
      'ContinuedAsNew',
      'TimedOut',
    ])
  ).filter(({ id: workflowId }) => workflowId.endsWith(id));
  const told: Told[] = [];
  for (const { id: workflowId, runId } of runs) {
    const { events } = await topology.deps.workflows.client.workflow.getHandle(workflowId, runId).fetchHistory();
    for (const { eventTime, eventType, ...rest } of events ?? []) {
      const attributes = Object.entries(rest).find(([name]) => name.endsWith('Attributes'));
      const name = attributes?.[0].replace('EventAttributes', '') ?? String(eventType);
      if (name.startsWith('workflowTask')) continue;
      const at = Number(eventTime?.seconds ?? 0) * 1000 + Number(eventTime?.nanos ?? 0) / 1e6;
      told.push({ at, says: `workflow ${workflowId}: ${name} ${describe(attributes?.[1])}` });
    }
  }
  return told;
}

/** Names and failures of a history's events, without payloads, which are bytes. */
function describe(attributes: unknown): string {
  const text = JSON.stringify(attributes, (name, value) =>
    /payload|input|header|result|identity|requestid|taskqueue|retry|timeout/i.test(name) ? undefined : value,
  );
  return cut(text ?? '');
}

function readLogs({ logFile }: Topology, id: string): Told[] {
  return [...serviceNames, 'sandbox'].flatMap((name) => {
    let text = '';
    try {
      text = readFileSync(logFile(name), 'utf8');
    } catch {
      return [];
    }
    return text
      .split('\n')
      .filter((line) => line.includes(id))
      .slice(0, mostLogLines)
      .map((line) => ({ at: Number(/"time":(\d+)/.exec(line)?.[1] ?? 0), says: `${name}: ${cut(line)}` }));
  });
}
