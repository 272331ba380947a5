import { createHash, createHmac } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { collection } from '../../src/partners/guide.ts';
import { buildPartner } from '../support/partner.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

interface Named {
  key: string;
  value: string;
}
interface Item {
  name: string;
  request: { method: string; header: Named[]; url: { path: string[]; variable: Named[] }; body?: { raw: string } };
}

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

/** The packages that Postman provides to scripts. */
const provided: Record<string, object> = {
  'crypto-js': {
    SHA256: (text: string) => createHash('sha256').update(text).digest('hex'),
    HmacSHA256: (text: string, secret: string) => createHmac('sha256', secret).update(text).digest('hex'),
  },
};

/** Makes a call as Postman does: runs the script on the request, with the Postman objects that the script uses. */
async function send({ request }: Item, script: string, variables: Record<string, string>) {
  const path = `/${request.url.path.map((part) => request.url.variable.find(({ key }) => `:${key}` === part)?.value ?? part).join('/')}`;
  const headers = new Map(request.header.map(({ key, value }) => [key.toLowerCase(), value]));
  const replaceIn = (text: string) =>
    text
      .replace('{{$guid}}', crypto.randomUUID())
      .replace(/\{\{(\w+)\}\}/g, (_, name: string) => variables[name] ?? '');
  runInNewContext(script, {
    pm: {
      variables: {
        replaceIn,
        get: (name: string) => variables[name],
        set: (name: string, value: string) => (variables[name] = value),
      },
      request: {
        method: request.method,
        body: request.body,
        headers: {
          has: (name: string) => headers.has(name.toLowerCase()),
          upsert: ({ key, value }: Named) => headers.set(key, value),
        },
        url: { getPathWithQuery: () => path },
      },
    },
    require: (name: string) => provided[name],
  });
  const sent = Object.fromEntries([...headers].map(([name, value]) => [name, replaceIn(value)]));
  const { method, body } = request;
  const answer = await fetch(`${stack.url}${path}`, {
    method,
    headers: { ...sent, authorization: `Bearer ${variables.api_key}` },
    ...(body && { body: body.raw }),
  });
  return { status: answer.status, body: await answer.json() };
}

describe('The collection for Postman', () => {
  it('The Postman collection has every operation, each signed by its script as required', async () => {
    const partner = await buildPartner(stack);
    const { status } = await partner.administer('patch', `/keys/${partner.keyId}`, { require_signature_v2: true });
    expect(status).toBe(200);
    const [{ body: served }, { body: document }] = await Promise.all([
      stack.get(`/docs/sdk/${collection}`),
      stack.get('/openapi-partners.json'),
    ]);
    const items: Item[] = served.item.flatMap(({ item }: { item: Item[] }) => item);
    expect(items).toHaveLength(Object.values<object>(document.paths).flatMap(Object.keys).length);
    const script = served.event[0].script.exec.join('\n');
    const variables = { api_key: partner.apiKey, signing_secret: partner.signingSecret };
    const refused: unknown[] = [];
    for (const item of items) {
      const answer = await send(item, script, { ...variables });
      if (answer.status === 401) refused.push([item.name, answer.body]);
    }
    expect(refused).toEqual([]);
    const payment = items.find(({ name }) => name === 'Create a payment') as Item;
    expect(await send(payment, script, { ...variables })).toMatchObject({
      status: 200,
      body: { data: { amount: '500000.0000' } },
    });
  });
});
