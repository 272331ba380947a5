import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { createApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { openDependencies } from '../../src/dependencies.ts';
import { type BuiltUser, buildIndividual } from '../support/build.ts';
import { createHttp } from '../support/http.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { within } from '../support/within.ts';

const portOf = (server: Pick<Server, 'address'>): number => {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
};

describe('With the database away', () => {
  let stack: Stack;
  let user: BuiltUser;
  beforeAll(async () => {
    stack = await startStack({ isImpatient: true });
    user = await buildIndividual(stack);
  });
  afterAll(() => stack?.stop());

  it.each([
    ['that refuses connections', false],
    ['that takes connections and never answers', true],
  ])('a database %s is a 503 with Retry-After in 3 s once in three tries, without a reason', async (_, silent) => {
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
        expect(body.message).toBe('The service is unavailable for a moment; try again');
      }
      const ready = await http.get('/readyz');
      expect([ready.status, ready.body.checks.database]).toEqual([503, 'away']);
      expect((await http.get('/healthz')).status).toBe(200);
    } finally {
      server.closeAllConnections();
      server.close();
      wall.close();
    }
  });
});
