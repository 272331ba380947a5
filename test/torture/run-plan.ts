import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttp } from '../support/http.ts';
import { workCalmly } from './calm-work.ts';
import { buildCast } from './cast.ts';
import { createClient } from './client.ts';
import { doWork } from './do-work.ts';
import type { EndFact, Facts, Finding } from './facts.ts';
import { approveTheRest } from './give-verdict.ts';
import { canAct, createNemesis } from './nemesis.ts';
import { judge } from './oracles/index.ts';
import type { Plan } from './plan.ts';
import { readAsked, readFacts, readMoney } from './read-facts.ts';
import { comeToRest } from './rest.ts';
import { reconcilePatiently, restoreMeanwhile } from './restore-meanwhile.ts';
import { startTopology, type Topology } from './topology.ts';

export interface RunReport {
  findings: Finding[];
  facts: Facts;
  /** When the plan started, by the runner's clock: milliseconds of the epoch. */
  begun: number;
  /** The run's log, with a time in each line. */
  notes: string[];
  /** Operations, faults and seconds, in words. */
  summary: string;
  /** The directory of data and logs, if there are findings. */
  directory: string | null;
  /** The history of each finding's resource, read while everything was still running. */
  timelines: Map<string, string>;
}

export interface RunOptions {
  progress(text: string): void;
  /** Prints a message at once. */
  aloud(text: string): void;
  /** Called with the first findings while everything is still running. */
  tellStory?:
    | ((topology: Topology, finding: Finding, report: { facts: Facts; notes: string[] }) => Promise<string>)
    | undefined;
  /** After the faults, something must come to rest in each interval of this length, until everything has. */
  restBoundMs: number;
}

/** Waiting rows without a workflow are aged by this much at most. */
const agedMs = 15 * 60_000;
/** Lists of workflows lag a little, so a finding is checked this often before it is reported. */
const looks = 6;
const betweenLooksMs = 3_000;
const toldStories = 3;

/** Runs a plan against its own product, and judges the result. */
export async function runPlan(plan: Plan, options: RunOptions): Promise<RunReport> {
  const { progress } = options;
  progress('starts the parts');
  await using topology = await startTopology((sentence) => progress(sentence));
  try {
    return await runOn(topology, plan, options);
  } catch (cause) {
    // Not a finding: the torture itself failed. The run's data is kept.
    topology.keep();
    throw new Error(`the torture failed; its data and logs: ${topology.directory}`, { cause });
  }
}

async function runOn(
  topology: Topology,
  plan: Plan,
  { progress, aloud, tellStory, restBoundMs }: RunOptions,
): Promise<RunReport> {
  const started = Date.now();
  const notes: string[] = [];
  const note = (text: string) => {
    const line = `${new Date().toISOString()} ${text}`;
    notes.push(line);
    appendFileSync(join(topology.directory, 'notes.log'), `${line}\n`);
  };
  writeFileSync(join(topology.directory, 'plan.json'), JSON.stringify(plan, null, 1));
  const run = `t${plan.seed}`;
  const from = Date.now() - agedMs;
  const cast = await buildCast(topology, plan.durationMs / 60_000);
  const client = createClient(run, topology.apiUrls);
  const before = await readMoney(topology.em());
  const older = new Set((await readAsked(topology.em())).map(({ id }) => id));
  const over = new AbortController();
  const nemesis = createNemesis({ topology, seed: plan.seed, token: cast.admin.token, note, aloud, over: over.signal });
  const apis = [createHttp(topology.apiUrls[0]), createHttp(topology.apiUrls[1])] as const;
  const decisions: Facts['decisions'] = [];
  const refundDecisions: Facts['refundDecisions'] = [];
  const verdicts: Facts['verdicts'] = [];
  const brokenOff: string[] = [];
  const { promise: healed, resolve: tellHealed } = Promise.withResolvers<void>();
  const hands = { topology, apis, cast, client, run, note, over: over.signal, healed };
  const place = { ...hands, decisions, refundDecisions, verdicts };

  const begun = Date.now();
  const at = (ms: number) => sleep(Math.max(0, begun + ms - Date.now()));
  const stop = setTimeout(() => over.abort(), plan.durationMs);
  const ticking = setInterval(() => {
    const answers = client.attempts.filter(({ status }) => status !== null && status < 300).length;
    progress(
      `${Math.round((Date.now() - begun) / 1000)} of ${Math.round(plan.durationMs / 1000)} s: ` +
        `${client.attempts.length} requests, ${answers} successes`,
    );
  }, 1_000);
  try {
    const work = plan.work.map((item) =>
      at(item.at).then(() =>
        doWork(place, item).catch((error: unknown) => {
          // For example, the operators' list was down because of a fault.
          const why = String(error).slice(0, 300);
          brokenOff.push(`${item.do}: ${why}`);
          note(`${item.id} failed with ${why}`);
        }),
      ),
    );
    const faults = plan.faults.map((fault) => at(fault.at).then(() => nemesis.strike(fault)));
    await at(plan.durationMs);
    over.abort();
    await Promise.all(faults);
    await nemesis.heal();
    tellHealed();
    await Promise.all(work);
  } finally {
    clearInterval(ticking);
    clearTimeout(stop);
    over.abort();
  }
  progress('retries unanswered requests');
  await client.askAgain();
  const calm = await workCalmly(place, plan.work.length);
  await approveTheRest(place);
  progress('restores the database');
  const restored = await restoreMeanwhile(place, {
    planned: plan.work.length + calm.length,
    reconcilesFirst: plan.seed % 2 === 0,
    lost: nemesis.noteLost,
  });
  const payoutsTo = (account: string) =>
    plan.work.flatMap((item) => ('account' in item && item.account === account ? [item.id] : []));
  const endless = new Set(payoutsTo('900004'));
  const refusedAccounts = payoutsTo('121212');
  const { takenWorkflows } = nemesis;
  const missed = new Set<string>();
  const restless = await comeToRest({
    topology,
    endless,
    refused: new Set(refusedAccounts),
    takenWorkflows,
    missed: (workflowId) => {
      missed.add(workflowId);
      note(`${workflowId} did not run, although no fault had removed it: its row is aged, for the sweeps`);
    },
    boundMs: restBoundMs,
    progress,
  });
  // Resolves the differences left by the restore.
  await reconcilePatiently(topology);

  const { died } = topology;
  const known = {
    run,
    cast,
    attempts: client.attempts,
    decisions,
    refundDecisions,
    verdicts,
    refusedAccounts,
    before,
    older,
    restless,
    died,
    takenWorkflows: [...takenWorkflows],
    endedRuns: [...nemesis.endedRuns],
    calm: calm.map(({ id }) => id),
    effort: {
      faults: plan.faults.filter((fault) => canAct(topology, fault)).length,
      idle: [...nemesis.idle],
      work: plan.work.length,
      brokenOff,
    },
    token: cast.admin.token,
    from,
    restored,
  };
  let facts = await readFacts(topology, known);
  let findings = judge(facts);
  for (let look = 1; look < looks && findings.length > 0 && restless.length === 0; look += 1) {
    await sleep(betweenLooksMs);
    facts = await readFacts(topology, known);
    findings = judge(facts);
  }
  const timelines = new Map<string, string>();
  if (findings.length > 0) {
    topology.keep();
    writeFileSync(join(topology.directory, 'facts.json'), JSON.stringify(facts, null, 1));
    for (const finding of findings) {
      if (timelines.size === toldStories) break;
      if (finding.resourceId === null || timelines.has(finding.resourceId)) continue;
      const story = await tellStory?.(topology, finding, { facts, notes }).catch((error: unknown) => String(error));
      if (story !== undefined) timelines.set(finding.resourceId, story);
    }
  }
  return {
    findings,
    facts,
    begun,
    notes,
    timelines,
    directory: findings.length > 0 ? topology.directory : null,
    summary: summarize(plan, facts, {
      together: await countTogether(topology),
      covered: await countCovered(topology),
      missed: missed.size,
      ms: Date.now() - started,
    }),
  };
}

/** How many payments from balances were written together with others. */
async function countTogether({ em }: Topology): Promise<number> {
  const [row] = await em().execute<{ count: string }[]>(
    `select coalesce(sum(n), 0) as count from (select count(*) as n from journals
       where business_key like 'balance-payment/%' group by xmin::text having count(*) > 1) together`,
  );
  return Number(row?.count);
}

/** How many rounds were completed from the guarantees of several members. */
async function countCovered({ em }: Topology): Promise<number> {
  const [row] = await em().execute<{ count: string }[]>(
    `select count(*) as count from (select 1 from saving_circle_covers group by saving_circle_id, turn_number
       having count(distinct guarantor_member_id) > 1) covered`,
  );
  return Number(row?.count);
}

function summarize(
  plan: Plan,
  { attempts, orders, payouts, refunds, receipts, webhooks, ends, effort, guards }: Facts,
  { together, covered, missed, ms }: { together: number; covered: number; missed: number; ms: number },
): string {
  const share = (test: (status: number | null) => boolean) => attempts.filter(({ status }) => test(status)).length;
  const count = (kind: EndFact['kind'], wanted: string) =>
    ends.filter((end) => end.kind === kind && end.status === wanted).length;
  return (
    `${plan.faults.length} faults, ${effort.idle.length} of which had no effect; ${attempts.length} requests: ${share((status) => status !== null && status < 300)} successes, ` +
    `${share((status) => status !== null && status >= 400 && status < 500)} refusals, ` +
    `${share((status) => status !== null && status >= 500)} times 5xx, ${share((status) => status === null)} lost; ` +
    `${effort.brokenOff.length} pieces of work failed; ` +
    `${together} payments written together; ` +
    `${orders.length} orders and payments, ${payouts.length} payouts (${refunds.length} of them refunds), ${receipts.length} receipts, ` +
    `${count('donation', 'refunded')} donations refunded, ${webhooks.length} webhooks, ` +
    `${count('circle', 'completed')} circles completed, ${covered} rounds covered by several members; ${missed} workflows missing without a fault; ${guards.unprovedChecks.length} checks unproved; ${Math.round(ms / 1000)} s`
  );
}
