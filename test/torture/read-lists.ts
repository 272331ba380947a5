import { readBacklog } from '../../src/wiring/measure-backlog.ts';
import type { OperatorsLists } from './facts.ts';
import type { Topology } from './topology.ts';

const listPage = 100;

/** Reads the operators' lists. */
export async function readLists({ api, em, deps }: Topology, token: string): Promise<OperatorsLists> {
  const stuck: OperatorsLists['stuck'] = [];
  for (let page = 1; ; page += 1) {
    const { status, body } = await api.get(`/v1/payouts/stuck?minutes=0&limit=${listPage}&page=${page}`, { token });
    if (status !== 200) throw new Error(`the list of stuck payouts returned ${status}`);
    const { items, total } = body.data as { items: { payout_id: string; reason: string }[]; total: number };
    stuck.push(...items.map(({ payout_id: id, reason }) => ({ id, reason })));
    if (items.length === 0 || stuck.length >= total) break;
  }
  const search = async (query: string): Promise<string[]> => {
    const found: string[] = [];
    for await (const { workflowId } of deps.workflows.client.workflow.list({ query })) found.push(workflowId);
    return found;
  };
  const running = "ExecutionStatus = 'Running'";
  const receipts: string[] = [];
  for (let page = 1; ; page += 1) {
    const path = `/v1/receipts?status=suspended&limit=${listPage}&page=${page}`;
    const { status, body } = await api.get(path, { token });
    if (status !== 200) throw new Error(`the list of money in suspense returned ${status}`);
    const { items, total } = body.data as { items: { id: string }[]; total: number };
    receipts.push(...items.map(({ id }) => id));
    if (items.length === 0 || receipts.length >= total) break;
  }
  return {
    stuck,
    receipts,
    suspense: (await search(`PaymentState = 'SUSPENSE' and ${running}`)).map((id) => id.split('/').at(-1) ?? id),
    searched: await search(`(PaymentState = 'OPERATOR' or PayoutState = 'OPERATOR') and ${running}`),
    parked: (await em().execute<{ id: string }[]>("select id from webhook_deliveries where status = 'parked'")).map(
      ({ id }) => id,
    ),
    waiting: (await readBacklog(em())).map(({ what, rows }) => ({ what, rows })),
  };
}
