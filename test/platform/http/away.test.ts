import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import Koa from 'koa';
import { readConfig } from '../../../src/platform/config/config.ts';
import { probes } from '../../../src/platform/http/probes.ts';
import { collectTogether, createMetrics, gauge } from '../../../src/platform/metrics/metrics.ts';
import { createLogger } from '../../../src/platform/process/log.ts';
import { budgets } from '../../../src/shared/budgets.ts';
import { createApp } from '../../../src/wiring/app.ts';
import { openDependencies } from '../../../src/wiring/dependencies.ts';
import { type BuiltUser, buildIndividual } from '../../support/build.ts';
import { itInFull } from '../../support/full.ts';
import { createHttp } from '../../support/http.ts';
import { eventually, type Stack, startStack } from '../../support/stack.ts';
import { within } from '../../support/within.ts';

const portOf = (server: Pick<Server, 'address'>): number => {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
};

describe('While the database is down', () => {
  let stack: Stack;
  let user: BuiltUser;
  beforeAll(async () => {
    stack = await startStack({ isImpatient: true });
    user = await buildIndividual(stack);
  });
  afterAll(() => stack?.stop());

  it.each([
    ['that refuses connections', false],
    ['that accepts connections and never answers', true],
  ])(
    'A database %s makes requests return 503 with Retry-After within 3 s, without naming the cause',
    async (_, silent) => {
      const wall = createServer();
      wall.listen(0, '127.0.0.1');
      await once(wall, 'listening');
      const port = portOf(wall);
      if (!silent) await new Promise((resolve) => wall.close(resolve));
      const databaseUrl = `postgresql://nobody:nothing@127.0.0.1:${port}/none`;
      const env = { ...stack.env, DATABASE_URL: databaseUrl, LOG_LEVEL: 'silent' };
      await using deps = await openDependencies(readConfig(env), { process: 'test' });
      const server = createApp(deps).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const http = createHttp(`http://127.0.0.1:${portOf(server)}`);
      try {
        const answers = await within(3000, () =>
          Promise.all([
            http.post('/v1/auth/login', { email: 'a@example.org', password: 'whatever it is' }),
            http.get('/v1/auth/me', { token: user.token }),
            http.get('/.well-known/jwks.json'),
          ]),
        );
        for (const { status, headers, body } of answers) {
          expect([status, headers.get('retry-after')]).toEqual([503, '2']);
          expect(body.message).toBe('The service is temporarily unavailable; try again');
        }
        const ready = await http.get('/readyz');
        expect([ready.status, ready.body.checks.database]).toEqual([503, 'away']);
        expect((await http.get('/healthz')).status).toBe(200);
      } finally {
        server.closeAllConnections();
        server.close();
        wall.close();
      }
    },
  );
});

itInFull('A scrape during a hanging query returns all metrics except the gauges of that query', async () => {
  const metrics = createMetrics({ defaults: false });
  const hanging = gauge(metrics, 'hanging', 'Of a query that hangs.', ['what']);
  gauge(metrics, 'other', 'Of this process.', []).set(7);
  hanging.set({ what: 'payouts' }, 3);
  const { promise } = Promise.withResolvers<void>();
  collectTogether([hanging], () => {
    hanging.reset();
    return promise;
  });
  const scraped = await within(budgets.reach.scrape + 1_000, () => metrics.registry.metrics());
  expect(scraped.split('\n').filter((line) => line && !line.startsWith('#'))).toEqual(['other 7']);
});

describe('While Temporal is down', () => {
  it('A process is ready while Temporal is down, which its readiness body and metrics report', async () => {
    await using stack = await startStack({ own: true, env: { TEMPORAL_ADDRESS: '127.0.0.1:1', LOG_LEVEL: 'silent' } });
    const checks = { database: 'ok', temporal: 'away', storage: 'ok' };
    expect(await stack.get('/readyz')).toMatchObject({ status: 200, body: { status: 'ok', checks } });
    const metrics = await (await fetch(`${stack.url}/metrics`)).text();
    expect(metrics.match(/^amanah_dependency_up.*$/gm)).toEqual([
      'amanah_dependency_up{dependency="database"} 1',
      'amanah_dependency_up{dependency="temporal"} 0',
      'amanah_dependency_up{dependency="storage"} 1',
    ]);
  });

  it('Concurrent readiness requests probe dependencies once, and the cause of a failure is logged once', async () => {
    let asked = 0;
    const app = new Koa();
    const database = async () => {
      asked += 1;
    };
    const storage = async () => {
      if (asked < 3) throw new Error('AccessDenied');
    };
    const lines: { level: number; dependency: string; err?: { stack: string } }[] = [];
    const log = createLogger({ level: 'info', process: 'test' }, { write: (line) => lines.push(JSON.parse(line)) });
    app.use(probes({ database, storage }, null, log).routes());
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const http = createHttp(`http://127.0.0.1:${portOf(server)}`);
    const answers = await Promise.all(Array.from({ length: 20 }, () => http.get('/readyz')));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(asked).toBe(1);
    await eventually(
      async () => (await http.get('/readyz')).body.checks.storage,
      (state) => asked === 3 && state === 'ok',
    );
    expect(lines.map(({ level, dependency }) => [level, dependency])).toEqual([
      [40, 'storage'],
      [30, 'storage'],
    ]);
    expect(lines[0]?.err?.stack).toContain('AccessDenied');
    server.close();
  });
});
