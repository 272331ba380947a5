import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { bodyLimitBytes, readBody } from '../../../src/platform/http/body.ts';
import { createHttpServer } from '../../../src/platform/http/create-http-server.ts';
import { errorCodeOf } from '../../../src/shared/errors.ts';
import { newId } from '../../../src/shared/ids.ts';
import { routeGroups } from '../../../src/wiring/app.ts';
import { asAClient } from '../../support/as-a-client.ts';
import { buildIndividual } from '../../support/build.ts';
import { eventually, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
}, 60_000);
afterAll(() => stack.stop());

const portOf = () => Number(new URL(stack.url).port);

/** Sends these bytes, and returns the server's whole output until it closes the connection. */
async function say(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end(text);
  return hear(socket);
}

async function hear(socket: Socket): Promise<string> {
  let heard = '';
  socket.on('data', (chunk: Buffer) => {
    heard += chunk.toString();
  });
  await once(socket, 'close');
  return heard;
}

function read(answer: string): { status: number; headers: string; body: Record<string, unknown> } {
  const [head = '', body = '{}'] = answer.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), headers: head.toLowerCase(), body: JSON.parse(body) };
}

describe('Queries of the largest size', () => {
  const pages = ['/reset-password', '/unsubscribe', '/operations', '/operations/propose', '/docs', '/healthz'];
  const gets = routeGroups.flatMap((group) => group.routes).filter(({ method }) => method === 'get');
  const paths = [...pages, ...gets.map(({ path }) => path.replace(/:\w+/g, newId()))];

  it.each([
    ['the same', 'a&'.repeat(7000)],
    ['different', Array.from({ length: 2500 }, (_, index) => `k${index}`).join('&')],
  ])('A query with as many parameters as fit costs at most 300 ms of processor time: %s', async (_, query) => {
    const dear: string[] = [];
    for (const path of paths) {
      const before = process.cpuUsage();
      await (await fetch(`${stack.url}${path}?${query}`, { redirect: 'manual' })).arrayBuffer();
      const { user, system } = process.cpuUsage(before);
      const ms = Math.round((user + system) / 1000);
      if (ms > 300) dear.push(`${path}: ${ms} ms`);
      if (dear.length > 3) break;
    }
    // Up to three may arrive during a garbage collection.
    expect(dear.length > 3 ? dear : []).toEqual([]);
  });
});

describe('Requests that the HTTP parser rejects', () => {
  it('A request that the HTTP parser rejects gets a 400 in the envelope, with a request id', async () => {
    const { status, headers, body } = read(await say(portOf(), 'GET /v1/users HTTP/9.9\r\n\r\n'));
    expect([status, body]).toEqual([
      400,
      {
        message: 'The request is not well-formed HTTP',
        statusCode: 400,
        error: 'Bad Request',
        code: 'REQUEST_INVALID',
      },
    ]);
    expect(headers).toMatch(/\r\nx-request-id: [0-9a-f-]{36}/);
    expect(headers).toContain('cache-control: no-store');
  });

  it('A request that the HTTP parser rejects gets a 400 in the partners’ envelope under their prefix', async () => {
    const large = `x: ${'a'.repeat(40_000)}`;
    const answer = await say(portOf(), `GET /v1/partners/balance HTTP/1.1\r\nhost: x\r\n${large}\r\n\r\n`);
    const { status, body } = read(answer);
    expect(status).toBe(400);
    expect(body).toEqual({
      error: {
        code: 'REQUEST_INVALID_PAYLOAD',
        message: 'The headers are larger than 16 KB',
        details: [{ field: 'request', message: 'The headers are larger than 16 KB' }],
      },
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });
});

describe('Requests that Node rejects', () => {
  it.each([
    ['a request without Host', 'GET /v1/users HTTP/1.1\r\n\r\n', 400, 'Bad Request'],
    [
      'an expectation that cannot be met',
      'GET /v1/users HTTP/1.1\r\nhost: x\r\nexpect: tea\r\n\r\n',
      400,
      'Bad Request',
    ],
    ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n', 400, 'Bad Request'],
  ])(
    'A request that Node rejects gets a 400 in the envelope, with a request id: %s',
    async (_, text, statusCode, error) => {
      const { status, headers, body } = read(await say(portOf(), text));
      expect([status, body]).toEqual([
        statusCode,
        { message: expect.any(String), statusCode, error, code: 'REQUEST_INVALID' },
      ]);
      expect(headers).toMatch(/\r\nx-request-id: [0-9a-f-]{36}/);
      expect(headers).toContain('cache-control: no-store');
    },
  );

  it('A request that Node rejects gets the partners’ envelope under their prefix; HTTP/1.0 needs no Host', async () => {
    const { status, body } = read(await say(portOf(), 'GET /v1/partners/balance HTTP/1.1\r\n\r\n'));
    expect([status, body]).toEqual([
      400,
      {
        error: {
          code: 'REQUEST_INVALID_PAYLOAD',
          message: 'The header Host is missing',
          details: [{ field: 'request', message: 'The header Host is missing' }],
        },
        request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    ]);
    expect(read(await say(portOf(), 'GET /healthz HTTP/1.0\r\n\r\n')).status).toBe(200);
  });
});

describe('Connections whose client closes its side early', () => {
  const head = (path: string) => `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`;

  it.each([
    ['in the headers', () => head('/v1/auth/login')],
    ['in a body with a length', () => `${head('/v1/auth/login')}content-length: 1000\r\n\r\n{"email":`],
    ['in a chunked body', () => `${head('/v1/auth/login')}transfer-encoding: chunked\r\n\r\n9\r\n{"email":`],
  ])('A client that closes its side early gets a 400 in the envelope, with a request id: %s', async (_, text) => {
    const { status, headers, body } = read(await say(portOf(), text()));
    expect([status, body]).toEqual([
      400,
      { message: expect.any(String), statusCode: 400, error: 'Bad Request', code: 'REQUEST_INVALID' },
    ]);
    expect(headers).toMatch(/\r\nx-request-id: [0-9a-f-]{36}/);
  });
});

describe('Slow and excessive bodies', () => {
  it('A body that trickles in times out, however steadily bytes arrive', async () => {
    const refused = Promise.withResolvers<unknown>();
    await using server = createServer((request, response) => {
      readBody(request, { timeoutMs: 300 }).then(refused.reject, (error: unknown) => {
        response.writeHead(408, { connection: 'close' }).end();
        refused.resolve(errorCodeOf(error));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n');
    const trickle = setInterval(() => socket.write('a'), 20);
    try {
      expect(await refused.promise).toBe('REQUEST_TIMEOUT');
    } finally {
      clearInterval(trickle);
      socket.destroy();
    }
  });

  it('Bodies in progress share a memory limit; beyond it, large ones are refused and small ones read', async () => {
    const { list: limitBytes, auth: small } = bodyLimitBytes;
    await using server = createServer((request, response) => {
      readBody(request, { limitBytes }).then(
        ({ length }) => response.end(String(length)),
        (error: unknown) => response.end(String(errorCodeOf(error))),
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const send = (bytes: number) => fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: Buffer.alloc(bytes) });
    const isRead = async (bytes: number) => (await (await send(bytes)).text()) === String(bytes);
    const refusals: string[] = [];
    const sockets = Array.from({ length: 100 }, () => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      socket.on('data', (answer: Buffer) => refusals.push(answer.toString().split('\r\n\r\n')[1] ?? ''));
      socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${limitBytes}\r\n\r\n`);
      socket.write(Buffer.alloc(limitBytes - 1));
      return socket;
    });
    try {
      await eventually(
        async () => refusals.length,
        (count) => count >= 25,
      );
      expect(new Set(refusals)).toEqual(new Set(['SERVICE_UNAVAILABLE']));
      expect(refusals.length).toBeLessThan(80);
      expect([await isRead(limitBytes), await isRead(small)]).toEqual([false, true]);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    await eventually(() => isRead(limitBytes), Boolean);
  });

  it.each([
    ['by GET', 'GET / HTTP/1.1\r\n'],
    ['by POST', 'POST / HTTP/1.1\r\n'],
  ])('A connection is closed if its request body still trickles in after the response (%s)', async (_, line) => {
    await using server = createHttpServer((_request, response) => response.end('{}'), {
      maxConnections: 10,
      restOfBodyMs: 300,
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => {});
    socket.resume();
    // once() would fail with the error of a reset connection, which is a valid end here.
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(`${line}host: x\r\ncontent-length: 100000\r\n\r\na`);
    const trickle = setInterval(() => socket.write('a'), 20);
    try {
      await closed;
    } finally {
      clearInterval(trickle);
      socket.destroy();
    }
  });

  it('A connection stays open if its request body arrives soon after the response', async () => {
    await using server = createHttpServer((_request, response) => response.end('{}'), {
      maxConnections: 10,
      restOfBodyMs: 1_500,
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const answers = () => once(socket, 'data').then(([bytes]) => String(bytes).split(' ')[1]);
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\na');
    expect(await answers()).toBe('200');
    // Longer than the time-out of an unread body: the rest arrived in time.
    socket.write('aaa');
    await setTimeout(1_800);
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(await answers()).toBe('200');
    socket.destroy();
  });

  it('The connection of a CONNECT request is closed, even if the client keeps its side open', async () => {
    await using server = createHttpServer((_request, response) => response.end('{}'), {
      maxConnections: 10,
      restOfBodyMs: 300,
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {});
    socket.resume();
    socket.write('CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(socket, 'end');
    try {
      await eventually(
        () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count))),
        (count) => count === 0,
      );
    } finally {
      socket.destroy();
    }
  });

  it('A body whose client disconnects is reported as an invalid request, not as an outage', async () => {
    const refused = Promise.withResolvers<unknown>();
    await using server = createServer((request) => {
      readBody(request).then(refused.reject, (error: unknown) => refused.resolve(errorCodeOf(error)));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\na', () => socket.resetAndDestroy());
    socket.on('error', () => {});
    expect(await refused.promise).toBe('REQUEST_INVALID');
  });

  it('A body of only unknown fields returns at most twenty errors', async () => {
    const body = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`field_${index}`, 1]));
    const answer = await stack.post('/v1/auth/login', body);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toHaveLength(20);
  });

  it('The error for a body with missing fields of any type names each of them as required', async () => {
    const answer = await stack.post('/v1/organizations/signup', {});
    expect(answer.body.message).toEqual(
      expect.arrayContaining(['name: is required', 'email: is required', 'admin: is required']),
    );
  });
});

describe('Connection limits', () => {
  it('A connection is closed if its client reads nothing of a response, but not if it reads slowly', async () => {
    const size = 20_000_000;
    await using server = createHttpServer((_request, response) => response.end(Buffer.alloc(size)), {
      maxConnections: 10,
      silenceMs: 3_000,
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const [slow, deaf] = [1, 2].map(() => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
      socket.on('error', () => {});
      socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
      return socket;
    }) as [Socket, Socket];
    let read = 0;
    const reading = setInterval(() => {
      read += (slow.read() as Buffer | null)?.length ?? 0;
    }, 5);
    try {
      const open = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
      await eventually(open, (count) => count === 1);
      await eventually(
        async () => read,
        (bytes) => bytes > size,
      );
    } finally {
      clearInterval(reading);
      for (const socket of [slow, deaf]) socket.destroy();
    }
  });

  it('Unread responses share a memory limit; beyond it, the connections that have waited longest are closed', async () => {
    const large = Buffer.alloc(8_000_000);
    await using server = createHttpServer((_request, response) => void response.end(large), { maxConnections: 100 });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const sockets: Socket[] = [];
    try {
      for (let index = 0; index < 25; index += 1) {
        const socket = connect(port, '127.0.0.1').pause();
        socket.on('error', () => {});
        socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
        sockets.push(socket);
        await once(server, 'request');
      }
      await eventually(
        () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count))),
        (count) => count < 20,
      );
      const [oldest, newest] = [sockets.at(0), sockets.at(-1)] as [Socket, Socket];
      expect((await hear(newest.resume())).length).toBeGreaterThan(large.length);
      // It may have noticed already, while paused.
      if (!oldest.closed) expect((await hear(oldest.resume())).length).toBeLessThan(large.length);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });

  it('Connections beyond the limit are closed at once, and those within it are served', async () => {
    await using server = createHttpServer((_request, response) => void response.end('served'), { maxConnections: 2 });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const open = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    await Promise.all(open.map((socket) => once(socket, 'connect')));
    const third = connect(port, '127.0.0.1');
    third.on('error', () => {});
    expect(await hear(third)).toBe('');
    for (const socket of open) socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    for (const answer of await Promise.all(open.map(hear))) expect(answer).toContain('served');
  });
});

describe('Pipelined requests', () => {
  it('One connection keeps at most 1,000 requests in progress, and then loses it; others are served', async () => {
    let [begun, served] = [0, 0];
    const over = Promise.withResolvers<void>();
    await using server = createHttpServer(
      async ({ url }, response) => {
        begun += 1;
        if (url === '/slow') await over.promise;
        served += 1;
        response.end('served');
      },
      { maxConnections: 10 },
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    let parsed = 0;
    server.on('request', () => {
      parsed += 1;
    });
    const flood = () => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write('GET /slow HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(5_000));
      // once() would fail with the error of a reset connection, which is expected here.
      return new Promise((resolve) => socket.once('close', resolve));
    };
    try {
      await flood();
      expect({ begun, parsed }).toEqual({ begun: 1_000, parsed: 1_001 });
      // The work of a lost connection still counts until it ends.
      await flood();
      expect({ begun, parsed }).toEqual({ begun: 1_001, parsed: 1_003 });
      const one = 'GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
      expect(await say(port, one)).toContain('served');
      over.resolve();
      await eventually(
        async () => served,
        (count) => count === 1_002,
      );
      const several = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(20);
      expect((await say(port, several + one)).split('served')).toHaveLength(22);
    } finally {
      over.resolve();
    }
  });

  it('The limit includes requests whose responses are not sent yet', async () => {
    let begun = 0;
    // Together less than the limit for unread responses.
    const large = Buffer.alloc(50_000);
    await using server = createHttpServer(
      (_request, response) => {
        begun += 1;
        response.end(large);
      },
      { maxConnections: 10 },
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const sockets = [1, 2].map(() => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
      socket.on('error', () => {});
      return socket;
    }) as [Socket, Socket];
    try {
      const many = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(900);
      sockets[0].write(many);
      await eventually(
        async () => begun,
        (count) => count === 900,
      );
      sockets[1].resume().write(many);
      await new Promise((resolve) => sockets[1].once('close', resolve));
      // The first responses fit into the buffers of the kernel.
      expect(begun).toBeLessThan(1_400);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});

describe('Requests after a refused one', () => {
  it('Nothing that a connection sends after a refused request is parsed', async () => {
    let parsed = 0;
    await using server = createHttpServer((_request, response) => response.end('served'), { maxConnections: 10 });
    server.on('request', () => {
      parsed += 1;
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => {});
    let heard = '';
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString();
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    // Without the header Host.
    socket.write('GET / HTTP/1.1\r\n\r\n'.repeat(3_000));
    await closed;
    expect({ parsed, refusals: heard.split('HTTP/1.1 400').length - 1 }).toEqual({ parsed: 1, refusals: 1 });
  });
});

describe('Password hashing', () => {
  it('Password hashing for many sign-ups does not starve other requests', async () => {
    const answered: number[] = [];
    let isDone = false;
    const signUp = (index: number) =>
      asAClient(() =>
        stack.post('/v1/auth/signup', {
          name: 'Crowd',
          email: `crowd-${index}@example.org`,
          password: 'a long enough pass phrase',
        }),
      );
    const crowd = Promise.all(Array.from({ length: 20 }, (_, index) => signUp(index))).finally(() => {
      isDone = true;
    });
    // Other requests are answered throughout; the sign-ups are served more slowly.
    while (!isDone) answered.push((await stack.get('/healthz')).status);
    expect((await crowd).map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect(answered.length).toBeGreaterThan(5);
    expect(new Set(answered)).toEqual(new Set([200]));
  }, 60_000);
});

describe('Database connections and probes', () => {
  it('One caller’s changes that wait for the same row leave database connections to others', async () => {
    const [busy, other] = [await buildIndividual(stack), await buildIndividual(stack)];
    const rename = () => stack.patch('/v1/auth/me', { name: newId() }, { token: busy.token });
    let waiting: Promise<unknown>[] = [];
    await stack.owner().transactional(async (tx) => {
      await tx.execute('select from users where id = ? for update', [busy.id]);
      waiting = Array.from({ length: 40 }, rename);
      await setTimeout(300);
      // This request is not retried.
      const headers = { authorization: `Bearer ${other.token}` };
      expect((await fetch(`${stack.url}/v1/accounts`, { headers })).status).toBe(200);
    });
    await Promise.all(waiting);
  });

  it('The probes serve /metrics only if they are given the metrics', async () => {
    const { probes } = await import('../../../src/platform/http/probes.ts');
    expect(probes({}, null).match('/metrics', 'GET').route).toBe(false);
    expect(probes({}, stack.deps.metrics).match('/metrics', 'GET').route).toBe(true);
  });
});
