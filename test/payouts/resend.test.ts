import type { CallBudget } from '../../src/gateway/call-budget.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import { createXenditGateway } from '../../src/gateway/xendit/create-xendit-gateway.ts';
import { askTransfer } from '../../src/payouts/ask-transfer.ts';
import { type PayoutSettlement, payoutTextsPlace } from '../../src/payouts/payout.ts';
import { resolvePayout } from '../../src/payouts/resolve-payout.ts';
import { sendTransfer } from '../../src/payouts/send-transfer.ts';
import { settlePayout } from '../../src/payouts/settle-payout.ts';
import { type BuiltUser, buildPlatformAdmin } from '../support/build.ts';
import type { BuiltPartner } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { ageAttempts, buildPayer, readPayout, reserve, setFaults, transfersOf } from './build-payouts.ts';

/** The steps of a payout without its workflow, so that each can come when the test wants it. */
let stack: Stack;
let partner: BuiltPartner;
let operator: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ sandbox: true });
  partner = await buildPayer(stack, { available: '100000000' });
  operator = await buildPlatformAdmin(stack);
}, 60_000);
afterAll(() => stack.stop());
afterEach(async () => {
  await setFaults(stack, {});
  await expectChecksEmpty(stack);
});

/** A way to the sandbox that counts the transfers requested on it. */
function openGateway(budget?: CallBudget): Gateway & { requests: number } {
  const gateway = createXenditGateway({
    secretKey: stack.env.XENDIT_SECRET_KEY ?? '',
    url: stack.sandbox.url,
    callbackToken: stack.callbackToken,
    timeoutMs: 1_000,
    ...(budget && { budget }),
    fetch: (input, init) => {
      if (init?.method === 'POST') counted.requests += 1;
      return fetch(input, init);
    },
  });
  const counted = { ...gateway, requests: 0 };
  return counted;
}

interface How {
  gateway?: Gateway;
  resendHours?: number;
}
const sendingWith = ({ gateway = openGateway(), resendHours = 24 }: How) => ({
  gateway,
  sealer: stack.deps.sealer,
  resendHours,
});
const stepOf = (payoutId: string) => ({
  payoutId,
  at: new Date().toISOString(),
  signal: AbortSignal.timeout(30_000),
});
const send = (id: string, how: How = {}) => sendTransfer(stack.em(), sendingWith(how), stepOf(id));
const ask = (id: string, how: How = {}) => askTransfer(stack.em(), sendingWith(how), stepOf(id));
const resolve = (payoutId: string, word: Awaited<ReturnType<typeof send>>) =>
  resolvePayout(stack.em(), stack.deps.sealer, { payoutId, word });
const settle = (id: string, settlement: Partial<PayoutSettlement>) =>
  settlePayout(stack.em(), sendingWith({}), {
    ...stepOf(id),
    settlement: { outcome: 'failed', note: 'ticket 4711', who: operator.id, ...settlement },
  });

const to = (lastDigits: string) => reserve(stack, partner, lastDigits);
const attemptsOf = (id: string) =>
  stack.em().execute<{ number: number; outcome: string | null; sent: boolean }[]>(
    `select number, outcome, outcome is distinct from 'unsent' as sent from payout_attempts
     where payout_id = ? order by number`,
    [id],
  );
const madeOf = async (id: string) => (await attemptsOf(id)).filter(({ sent }) => sent).length;
const rowOf = async (id: string) => {
  const [row] = await stack
    .em()
    .execute<{ status: string; last_word: string; unknown_since: string | null }[]>(
      'select status, last_word, unknown_since from payouts where id = ?',
      [id],
    );
  return row;
};
const stuckReasonOf = async (id: string): Promise<string | undefined> => {
  const { items } = (await stack.get('/v1/payouts/stuck?minutes=0&limit=100', { token: operator.token })).body.data;
  return items.find((item: { payout_id: string }) => item.payout_id === id)?.reason;
};
const repeat = { said: 'not known', repeat: true };
const mayNot = { said: 'not known' };

describe('The very same request', () => {
  it('is never made again before the provider, two minutes after the attempt, did not know it; then it pays once', async () => {
    const id = await to('900005');
    expect(await send(id)).toEqual({ said: 'silent' });
    expect(await ask(id)).toEqual(mayNot);
    await ageAttempts(stack, id, 1);
    expect(await ask(id)).toEqual(mayNot);
    expect(await send(id)).toEqual(mayNot);
    // Old enough, but what was heard was heard too early: it is asked again.
    await ageAttempts(stack, id, 1);
    const early = openGateway();
    expect(await send(id, { gateway: early })).toEqual(repeat);
    expect(early.requests).toBe(0);

    expect(await send(id)).toMatchObject({ said: 'accepted' });
    expect(await attemptsOf(id)).toMatchObject([{ outcome: 'unknown' }, { outcome: 'accepted' }]);
    expect(await transfersOf(stack, id)).toMatchObject([{ idempotency_key: id, amount: 100_000 }]);
    await ageAttempts(stack, id, 60);
    expect(await send(id)).toMatchObject({ said: expect.stringMatching(/accepted|succeeded/) });
    expect(await madeOf(id)).toBe(2);
  });

  it('is made again at growing intervals, and never a sixth time', async () => {
    const id = await to('900004');
    const gateway = openGateway();
    const how = { gateway, resendHours: 720 };
    await send(id, how);
    for (const [count, minutes] of [2, 10, 60, 360].entries()) {
      await ageAttempts(stack, id, minutes - 1);
      expect([count, await ask(id, how)]).toEqual([count, mayNot]);
      await send(id, how);
      expect(gateway.requests).toBe(count + 1);
      await ageAttempts(stack, id, 1);
      expect([count, await ask(id, how)]).toEqual([count, repeat]);
      await send(id, how);
      expect(gateway.requests).toBe(count + 2);
    }
    for (const minutes of [10, 1_000, 10_000]) {
      await ageAttempts(stack, id, minutes);
      expect(await ask(id, how)).toEqual(mayNot);
      await send(id, how);
    }
    expect([gateway.requests, await madeOf(id)]).toEqual([5, 5]);
    expect(await rowOf(id)).toMatchObject({ status: 'pending', unknown_since: expect.anything() });
    expect(await stuckReasonOf(id)).toContain('requested 5 times, under one key');
  }, 60_000);

  it('is never made again PAYOUT_RESEND_HOURS after the first attempt, nor ever when they are 0', async () => {
    const id = await to('900005');
    await send(id);
    await ageAttempts(stack, id, 2);
    expect(await ask(id, { resendHours: 0 })).toEqual(mayNot);
    expect(await send(id, { resendHours: 0 })).toEqual(mayNot);
    await ageAttempts(stack, id, 24 * 60 - 3);
    expect(await ask(id)).toEqual(repeat);
    await ageAttempts(stack, id, 1);
    expect(await ask(id)).toEqual(mayNot);
    expect(await send(id)).toEqual(mayNot);
    expect(await madeOf(id)).toBe(1);
  });

  it('never makes a second transfer where the first was made and the provider lists it late', async () => {
    await setFaults(stack, { requests: { list_delay_ms: 180_000 } });
    const id = await to('900003');
    expect(await send(id)).toEqual({ said: 'silent' });
    await ageAttempts(stack, id, 2);
    expect(await ask(id)).toEqual(repeat);
    expect(await send(id)).toEqual({ said: 'silent' });
    expect(await madeOf(id)).toBe(2);
    expect(await transfersOf(stack, id)).toMatchObject([{ idempotency_key: id }]);
    await setFaults(stack, {});
    const word = await eventually(
      () => ask(id),
      ({ said }) => said === 'succeeded',
    );
    expect(await resolve(id, word)).toMatchObject({ status: 'succeeded' });
    // What the provider has known once is not made again when it forgets it.
    await setFaults(stack, { requests: { list_delay_ms: 180_000 } });
    await ageAttempts(stack, id, 60);
    expect(await ask(id)).toEqual(mayNot);
  });

  it('is never made by two at once: twins of the step make one attempt', async () => {
    const id = await to('900005');
    await Promise.all([send(id), send(id), send(id)]);
    expect(await madeOf(id)).toBe(1);
    await ageAttempts(stack, id, 2);
    expect(await ask(id)).toEqual(repeat);
    const gateway = openGateway();
    await Promise.all(Array.from({ length: 8 }, () => send(id, { gateway })));
    expect([gateway.requests, await madeOf(id)]).toEqual([1, 2]);
    expect(await transfersOf(stack, id)).toHaveLength(1);
    await expect(
      stack.em().execute('insert into payout_attempts (payout_id, number) values (?, 9)', [id]),
    ).rejects.toThrow('payout_attempts_one_open');
  });

  it('is never another one: what was sent first is frozen, and a difference is a case for operators', async () => {
    const id = await to('900005');
    await send(id);
    await ageAttempts(stack, id, 2);
    const { sealer } = stack.deps;
    const texts = { bank_account_number: '00100012222222', beneficiary_name: 'Somebody else', external_ref: null };
    const sealed = await sealer.seal(payoutTextsPlace(id), JSON.stringify(texts));
    expect(await ask(id)).toEqual(repeat);
    await stack.em().execute('update payouts set texts_sealed = ? where id = ?', [sealed, id]);
    const gateway = openGateway();
    expect(await send(id, { gateway })).toEqual({ said: 'request differs' });
    expect(await ask(id, { gateway })).toEqual({ said: 'request differs' });
    expect(await send(id, { gateway })).toEqual({ said: 'request differs' });
    expect([gateway.requests, await madeOf(id)]).toEqual([0, 1]);
    expect(await stuckReasonOf(id)).toContain('not what was sent first; nothing is sent');
    await expect(
      stack.em().execute('update payouts set request_digest = ? where id = ?', ['0'.repeat(64), id]),
    ).rejects.toThrow('never changed');
  });

  it('is never made again for an attempt of before requests were frozen', async () => {
    const id = await to('900005');
    await stack.em().execute('insert into payout_attempts (payout_id, number) values (?, 1)', [id]);
    await ageAttempts(stack, id, 5);
    expect(await ask(id)).toEqual(mayNot);
    expect(await send(id)).toEqual(mayNot);
    expect(await madeOf(id)).toBe(1);
  });
});

describe('A worker that was stopped between the row of its attempt and the wire', () => {
  /** Its request is held back at the last moment before it would be written. */
  async function stopped(id: string) {
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const gateway = openGateway({ take: () => held.then(() => 0), pause: async () => {} });
    const sent = send(id, { gateway });
    await eventually(
      () => madeOf(id),
      (made) => made === 1,
    );
    return { gateway, sent, goOn };
  }

  it('never sends when it wakes up: its twin has asked and sent meanwhile', async () => {
    const id = await to('111111');
    const { gateway, sent, goOn } = await stopped(id);
    await ageAttempts(stack, id, 2);
    expect(await ask(id)).toEqual(repeat);
    expect(await send(id)).toMatchObject({ said: 'accepted' });
    const before = await rowOf(id);
    goOn();
    await sent;
    expect(gateway.requests).toBe(0);
    expect(await attemptsOf(id)).toMatchObject([{ outcome: 'unsent' }, { outcome: 'accepted' }]);
    expect(await rowOf(id)).toEqual(before);
    expect(await transfersOf(stack, id)).toHaveLength(1);
  });

  it('never sends when its attempt is older than its time-out, though nobody else has sent', async () => {
    const id = await to('111111');
    const { gateway, sent, goOn } = await stopped(id);
    await ageAttempts(stack, id, 1);
    goOn();
    expect(await sent).toEqual({ said: 'unsent' });
    expect(gateway.requests).toBe(0);
    // Nothing had left: it is sent as if for the first time.
    expect(await send(id)).toMatchObject({ said: 'accepted' });
  });

  it('never sends a payout that has ended meanwhile', async () => {
    const id = await to('111111');
    const { gateway, sent, goOn } = await stopped(id);
    await resolve(id, { said: 'refused', failureCode: 'CANCELLED' });
    goOn();
    await sent;
    expect(gateway.requests).toBe(0);
    expect(await readPayout(partner, id)).toMatchObject({ status: 'failed', failure_code: 'CANCELLED' });
  });
});

describe('A refusal', () => {
  it('of a repeated request never fails a payout before the provider, two minutes later, does not know it', async () => {
    await setFaults(stack, { requests: { hang_rate: 1 } });
    const id = await to('121212');
    expect(await send(id)).toEqual({ said: 'silent' });
    await setFaults(stack, {});
    await ageAttempts(stack, id, 2);
    expect(await ask(id)).toEqual(repeat);
    const word = await send(id);
    expect(word).toEqual({ said: 'repeat refused', failureCode: 'INVALID_DESTINATION' });
    expect(await resolve(id, word)).toMatchObject({ status: 'pending' });
    expect(await stuckReasonOf(id)).toContain('a repeated request was refused');
    expect(await ask(id)).toEqual(mayNot);
    await ageAttempts(stack, id, 1);
    expect(await ask(id)).toEqual(mayNot);
    await ageAttempts(stack, id, 1);
    const last = await ask(id);
    expect(last).toEqual({ said: 'refused', failureCode: 'INVALID_DESTINATION' });
    expect(await resolve(id, last)).toMatchObject({ status: 'failed' });
    expect(await readPayout(partner, id)).toMatchObject({ failure_code: 'INVALID_DESTINATION' });
  });

  it('of the only request stands, though the step that was to draw the consequence was lost', async () => {
    const id = await to('121212');
    const refused = { said: 'refused', failureCode: 'INVALID_DESTINATION' };
    expect(await send(id)).toEqual(refused);
    expect(await send(id)).toEqual(refused);
    expect(await resolve(id, await ask(id))).toMatchObject({ status: 'failed' });
    expect(await madeOf(id)).toBe(1);
  });
});

describe('An operator', () => {
  it('never ends a payout as failed within two minutes of an attempt, with force neither; after that nothing is sent', async () => {
    const id = await to('900005');
    await send(id);
    await ageAttempts(stack, id, 1);
    await expect(settle(id, {})).rejects.toThrow('may still be under way');
    await expect(settle(id, { force: true })).rejects.toThrow('may still be under way');
    await ageAttempts(stack, id, 1);
    expect(await ask(id)).toEqual(repeat);
    expect(await settle(id, {})).toMatchObject({ status: 'failed' });
    const gateway = openGateway();
    expect(await send(id, { gateway })).toEqual(mayNot);
    expect([gateway.requests, await madeOf(id)]).toEqual([0, 1]);
    expect(await transfersOf(stack, id)).toEqual([]);
  });
});

describe('A request that the provider answers with 429', () => {
  it('is never a case for people: nothing was sent, and the same is made again after Retry-After', async () => {
    await setFaults(stack, { requests: { limit_rate: 1, retry_after_seconds: 7 } });
    const id = await to('111111');
    const limited = { said: 'unsent', restMs: 7_000 };
    for (let time = 0; time < 6; time += 1) {
      const word = await send(id);
      expect(word).toEqual(limited);
      expect(await resolve(id, word)).toMatchObject({ status: 'pending', unknownSince: null });
    }
    expect(await madeOf(id)).toBe(0);
    expect(await stuckReasonOf(id)).toBeUndefined();
    await setFaults(stack, {});
    expect(await send(id)).toMatchObject({ said: 'accepted' });
    expect(await transfersOf(stack, id)).toHaveLength(1);
  });

  it('leaves what is known, when it was a question, and what is unknown, when it was a repetition', async () => {
    const accepted = await to('131313');
    await send(accepted);
    const lost = await to('900005');
    await send(lost);
    await ageAttempts(stack, lost, 2);
    expect(await ask(lost)).toEqual(repeat);
    const before = [await rowOf(accepted), await rowOf(lost)];
    await setFaults(stack, { requests: { limit_rate: 1 } });
    expect(await ask(accepted)).toEqual({ said: 'silent', restMs: 1_000 });
    expect(await send(lost)).toEqual({ said: 'silent', restMs: 1_000 });
    expect([await rowOf(accepted), await rowOf(lost)]).toEqual(before);
    expect(await attemptsOf(lost)).toMatchObject([{ outcome: 'unknown' }, { outcome: 'unsent' }]);
    await setFaults(stack, {});
    expect(await send(lost)).toMatchObject({ said: 'accepted' });
  });
});
