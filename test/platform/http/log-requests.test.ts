import { createLogger } from '../../../src/platform/process/log.ts';
import { createApp } from '../../../src/wiring/app.ts';
import { type BuiltUser, buildIndividual } from '../../support/build.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { type Stack, startStack } from '../../support/stack.ts';

const lines: Record<string, unknown>[] = [];
const log = createLogger({ level: 'info', process: 'test' }, { write: (line) => void lines.push(JSON.parse(line)) });

let stack: Stack;
let payer: BuiltUser;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ createApp: (deps) => createApp({ ...deps, log }) });
  payer = await buildIndividual(stack, { balance: '1000' });
  partner = await buildPartner(stack);
}, 60_000);
afterAll(() => stack.stop());

/** Returns the log line of the request that was sent with this id. */
const lineOf = (id: string) => lines.find(({ request_id, msg }) => request_id === id && msg === 'request');
const as = (id: string, more: Record<string, string> = {}) => ({ headers: { 'x-request-id': id, ...more } });

describe('Request log lines', () => {
  it('A request’s log line names the user and the route, never the query', async () => {
    await stack.get('/v1/transactions?limit=3', { token: payer.token, ...as('line-1') });
    expect(lineOf('line-1')).toEqual({
      level: 30,
      time: expect.any(Number),
      process: 'test',
      request_id: 'line-1',
      method: 'GET',
      path: '/v1/transactions',
      route: '/v1/transactions',
      caller: 'individual',
      user_id: payer.id,
      status: 200,
      milliseconds: expect.any(Number),
      msg: 'request',
    });
  });

  it('A partner’s request log line names the partner and the returned error code', async () => {
    await partner.post('/payments', { method: 'qris', amount: '1.5' }, 'key-of-a-line', { 'x-request-id': 'line-2' });
    expect(lineOf('line-2')).toMatchObject({
      caller: 'partner',
      partner_id: partner.id,
      status: 400,
      error: 'REQUEST_INVALID_PAYLOAD',
    });
    expect(lineOf('line-2')).not.toHaveProperty('user_id');
  });

  it('An unauthenticated request’s log line has the caller `nobody` and the error code', async () => {
    await stack.get('/v1/transactions', as('line-3'));
    expect(lineOf('line-3')).toMatchObject({ caller: 'nobody', status: 401, error: 'UNAUTHENTICATED' });
    await stack.get('/v1/partners/balance', as('line-4'));
    expect(lineOf('line-4')).toMatchObject({ caller: 'nobody', status: 401, error: 'AUTH_INVALID_CREDENTIALS' });
    await stack.get('/v1/nothing', as('line-5'));
    expect(lineOf('line-5')).toMatchObject({ caller: 'nobody', status: 404, error: 'NOT_FOUND' });
  });

  it('A request log line shows whether the response was replayed under an idempotency key', async () => {
    const pocket = (await stack.post('/v1/accounts', { name: 'Pocket' }, { token: payer.token })).body.data.id;
    const body = { destination_account_id: pocket, amount: '100' };
    const transfer = (id: string) =>
      stack.post(`/v1/accounts/${payer.accountId}/transfers`, body, {
        token: payer.token,
        ...as(id, { 'idempotency-key': 'key-of-two-lines' }),
      });
    await transfer('line-6');
    await transfer('line-7');
    expect(lineOf('line-6')).toMatchObject({ status: 201 });
    expect(lineOf('line-6')).not.toHaveProperty('replayed');
    expect(lineOf('line-7')).toMatchObject({ status: 201, replayed: true, user_id: payer.id });
  });
});
