import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { findFreePort } from '../../dev/ports.ts';
import { newId } from '../../src/shared/ids.ts';
import { createHttp, type Http } from '../support/http.ts';
import { eventually, type Stack, startStack } from '../support/stack.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const Rules = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^Amanah[A-Za-z]+$/),
          expr: z.string(),
          for: z
            .string()
            .regex(/^\d+[smh]$/)
            .optional(),
          labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
          annotations: z.strictObject({
            runbook_url: z.string(),
            summary: z.string(),
            description: z.string().optional(),
          }),
        }),
      ),
    }),
  ),
});
const Dashboard = z.looseObject({
  panels: z.array(
    z.looseObject({
      id: z.number(),
      title: z.string(),
      targets: z.array(z.looseObject({ expr: z.string() })).default([]),
    }),
  ),
});

let stack: Stack;
let scraped: string;
let worker: Http;
beforeAll(async () => {
  const [workerPort, sdkPort] = [await findFreePort(), await findFreePort()];
  stack = await startStack({
    own: true,
    worker: true,
    workerFailpoints: 'allocate-donations.before=throw',
    env: { WORKER_PORT: String(workerPort), TEMPORAL_METRICS_PORT: String(sdkPort) },
  });
  worker = createHttp(`http://127.0.0.1:${workerPort}`);
  const { client, taskQueue } = stack.deps.workflows;
  const start = (type: string, args: object[]) =>
    client.workflow.execute(type, { workflowId: `${taskQueue}/observed/${type}`, taskQueue, args });
  // The SDK exports a counter once it has counted: one workflow completes, with its activity, and one fails.
  await start('sweep', []);
  await expect(start('partnerPayout', [{ payoutId: newId() }])).rejects.toThrow();
  const texts = await Promise.all([
    stack.get('/metrics'),
    worker.get('/metrics'),
    // The counter changes a moment after the workflow has completed.
    eventually(
      () => createHttp(`http://127.0.0.1:${sdkPort}`).get('/metrics'),
      ({ body }) => String(body).includes('temporal_workflow_failed'),
    ),
  ]);
  scraped = texts.map(({ body }) => String(body)).join('\n');
}, 90_000);
afterAll(() => stack.stop());

const expressions = () => [
  ...Rules.parse(parse(read('deploy/prometheus/alerts.yml'))).groups.flatMap(({ rules }) =>
    rules.map(({ expr }) => expr),
  ),
  ...Dashboard.parse(JSON.parse(read('deploy/grafana/dashboard.json'))).panels.flatMap(({ targets }) =>
    targets.map(({ expr }) => expr),
  ),
];

describe('Dashboard and alarms', () => {
  it('The dashboard and alarms use only metrics that the processes export', () => {
    const names = new Set(expressions().flatMap((expr) => expr.match(/\b(amanah|process|nodejs|temporal)_\w+/g) ?? []));
    expect(names.size).toBeGreaterThan(8);
    const base = (name: string) => name.replace(/_(count|bucket|sum)$/, '');
    // Only a process with a replica counts its reads (see the alarms' test); the restore test scrapes the backups.
    expect([...names].filter((name) => !scraped.includes(`# TYPE ${base(name)} `)).toSorted()).toEqual([
      'amanah_backup_kept_timestamp_seconds',
      'amanah_copy_kept_timestamp_seconds',
      'amanah_replica_reads_total',
      'amanah_wal_kept_timestamp_seconds',
    ]);
  });

  it('The dashboard and alarms use exactly the kinds of waiting rows that a worker reports', () => {
    const kinds = new Set(
      expressions().flatMap((expr) =>
        [...expr.matchAll(/what=~?"([\w|]+)"/g)].flatMap(([, kind = '']) => kind.split('|')),
      ),
    );
    for (const kind of kinds) expect(scraped).toContain(`amanah_waiting{what="${kind}"} 0`);
    const told = new Set([...scraped.matchAll(/amanah_waiting\{what="(\w+)"\}/g)].map(([, kind]) => kind));
    // And the reverse: every kind that a worker reports is used.
    expect([...told].filter((kind) => !kinds.has(kind ?? ''))).toEqual([]);
  });

  it('The alarm on failing activities counts each activity, so a single one that keeps failing fires it', async () => {
    const rules = Rules.parse(parse(read('deploy/prometheus/alerts.yml'))).groups.flatMap((group) => group.rules);
    const rule = rules.find(({ alert }) => alert === 'AmanahStepsFail');
    const [, metric = '', minutes] =
      /^sum by \(activity\) \(increase\((\w+)\[(\d+)m\]\)\) > 0$/.exec(rule?.expr ?? '') ?? [];
    // The longest interval at which a workflow retries an activity, except reconciliation's, is five minutes.
    expect(Number(minutes)).toBeGreaterThanOrEqual(3 * 5);
    const { client, taskQueue } = stack.deps.workflows;
    const failing = await client.workflow.start('savingCircle', {
      workflowId: `${taskQueue}/fails`,
      taskQueue,
      args: [{ circleId: 'no id' }],
    });
    const series = new RegExp(`^${metric}\\{activity="moveCircle"\\} (\\d+)$`, 'm');
    const value = async () => Number(series.exec(String((await worker.get('/metrics')).body))?.[1] ?? 0);
    const first = await eventually(value, (count) => count > 0);
    // `increase` over two scrapes of one series without a reset is proportional to this difference.
    const second = await eventually(value, (count) => count > first);
    expect(second - first).toBeGreaterThan(0);
    await failing.terminate('enough');
  }, 60_000);

  it('Alarms use increase() only on series that exist from the start, as a new series has no increase', () => {
    const asked = new Set(
      expressions().flatMap((expr) =>
        [...expr.matchAll(/increase\((\w+)(\{[^}]*\})?\[/g)].map(([, name, labels = '']) => `${name}${labels}`),
      ),
    );
    expect(asked).toContain('amanah_webhook_attempts_total{status="parked"}');
    const rules = read('deploy/prometheus/alerts.yml');
    const ofAlarms = [...asked].filter((series) => rules.includes(`increase(${series}[`));
    for (const series of ofAlarms) {
      const [name = '', labels] = series.split(/(?=\{)/);
      expect(scraped).toMatch(new RegExp(`^${labels ? series : `${name}\\{[^}]*\\}`} \\d`, 'm'));
    }
  });

  it('Alarms on the age of an event also fire if the event has never happened', () => {
    const rules = Rules.parse(parse(read('deploy/prometheus/alerts.yml'))).groups.flatMap((group) => group.rules);
    const ages = rules.flatMap(({ expr }) =>
      [...expr.matchAll(/time\(\) - max\((\w+)\)/g)].map(([, metric]) => [metric, expr]),
    );
    expect(ages.length).toBeGreaterThan(1);
    for (const [metric, expr] of ages) expect(expr).toContain(`or absent(${metric})`);
  });

  it('The worker exports the Temporal SDK’s metrics on a port of their own', () => {
    expect(scraped).toMatch(/temporal_worker_task_slots_available\{[^}]*\} \d+/);
  });

  it('The dashboard’s panels have unique ids', () => {
    const { panels } = Dashboard.parse(JSON.parse(read('deploy/grafana/dashboard.json')));
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });
});
