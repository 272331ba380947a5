import { payoutTextsPlace } from '../../../src/money-out/payouts/payout.ts';
import { unlimited } from '../../../src/platform/gateway/call-budget.ts';
import { buildOperators, type Operators, plantDecision } from '../../support/decide.ts';
import { itInFull } from '../../support/full.ts';
import { loseKey, sealerElsewhere } from '../../support/lost-keys.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { ageAttempts, buildPayer, readPayout, reserve, setFaults, transfersOf } from './build-payouts.ts';
import { openSteps } from './payout-steps.ts';

/** The activities of a payout without its workflow: the test decides when each runs. */
let stack: Stack;
let partner: BuiltPartner;
let operators: Operators;
let steps: ReturnType<typeof openSteps>;
beforeAll(async () => {
  stack = await startStack({ sandbox: true });
  steps = openSteps(stack);
  partner = await buildPayer(stack, { available: '100000000' });
  operators = await buildOperators(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(() => setFaults(stack, {}));

const to = (lastDigits: string) => reserve(stack, partner, lastDigits);
/** Executes a decision of two people that the payout failed; returns the status of both. */
async function settleAsFailed(id: string) {
  const facts = { kind: 'settle_payout', payout_id: id, outcome: 'failed' };
  const decisionId = await plantDecision(stack, operators, facts);
  const { status: payout } = await steps.settle(id, { decision_id: decisionId });
  const [decision] = await stack
    .em()
    .execute<{ status: string; reason: string }[]>('select status, reason from decisions where id = ?', [decisionId]);
  return { payout, ...decision };
}
const stuckReasonOf = async (id: string): Promise<string | undefined> => {
  const { items } = (await stack.get('/v1/payouts/stuck?minutes=0&limit=100', { token: operators.proposer.token })).body
    .data;
  return items.find((item: { payout_id: string }) => item.payout_id === id)?.reason;
};
/** Stores a provider status, as another activity would. */
async function hear(id: string, said: string, failureCode: string): Promise<void> {
  await stack
    .em()
    .execute('insert into payout_words (payout_id, said, failure_code, at) values (?, ?, ?, now())', [
      id,
      said,
      failureCode,
    ]);
  await stack.em().execute('update payouts set last_word = ?, last_word_at = now() where id = ?', [said, id]);
}
const repeat = { said: 'not known', repeat: true };
const mayNot = { said: 'not known' };

describe('Retried payout requests', () => {
  it('A payout request is retried only if the provider lacks it two minutes after the attempt', async () => {
    const id = await to('900005');
    expect(await steps.send(id)).toEqual({ said: 'silent' });
    expect(await steps.ask(id)).toEqual(mayNot);
    await ageAttempts(stack, id, 1);
    expect(await steps.ask(id)).toEqual(mayNot);
    expect(await steps.send(id)).toEqual(mayNot);
    // The attempt is old enough, but the last answer came too early, so the provider is only queried again.
    await ageAttempts(stack, id, 1);
    const early = steps.openGateway();
    expect(await steps.send(id, { gateway: early })).toEqual(repeat);
    expect(early.requests).toBe(0);

    expect(await steps.send(id)).toMatchObject({ said: 'accepted' });
    expect(await steps.attemptsOf(id)).toMatchObject([{ outcome: 'unknown' }, { outcome: 'accepted' }]);
    expect(await transfersOf(stack, id)).toMatchObject([{ idempotency_key: id, amount: 100_000 }]);
    await ageAttempts(stack, id, 60);
    expect(await steps.send(id)).toMatchObject({ said: expect.stringMatching(/accepted|succeeded/) });
    expect(await steps.madeOf(id)).toBe(2);
  });

  it('A payout request is sent at most five times, at growing intervals', async () => {
    const id = await to('900004');
    const gateway = steps.openGateway();
    const how = { gateway, resendHours: 720 };
    await steps.send(id, how);
    for (const [count, minutes] of [2, 10, 60, 360].entries()) {
      await ageAttempts(stack, id, minutes - 1);
      expect([count, await steps.ask(id, how)]).toEqual([count, mayNot]);
      await steps.send(id, how);
      expect(gateway.requests).toBe(count + 1);
      await ageAttempts(stack, id, 1);
      expect([count, await steps.ask(id, how)]).toEqual([count, repeat]);
      await steps.send(id, how);
      expect(gateway.requests).toBe(count + 2);
    }
    for (const minutes of [10, 1_000, 10_000]) {
      await ageAttempts(stack, id, minutes);
      expect(await steps.ask(id, how)).toEqual(mayNot);
      await steps.send(id, how);
    }
    expect([gateway.requests, await steps.madeOf(id)]).toEqual([5, 5]);
    expect(await steps.rowOf(id)).toMatchObject({ status: 'pending', unknown_since: expect.anything() });
    expect(await stuckReasonOf(id)).toContain('requested 5 times, under one key');
  }, 60_000);

  it('A payout request is not retried after PAYOUT_RESEND_HOURS, or at all when that is 0', async () => {
    const id = await to('900005');
    await steps.send(id);
    await ageAttempts(stack, id, 2);
    expect(await steps.ask(id, { resendHours: 0 })).toEqual(mayNot);
    expect(await steps.send(id, { resendHours: 0 })).toEqual(mayNot);
    await ageAttempts(stack, id, 24 * 60 - 3);
    expect(await steps.ask(id)).toEqual(repeat);
    await ageAttempts(stack, id, 1);
    expect(await steps.ask(id)).toEqual(mayNot);
    expect(await steps.send(id)).toEqual(mayNot);
    expect(await steps.madeOf(id)).toBe(1);
  });

  it('A payout whose transfer the provider lists late is requested again but transferred once', async () => {
    await setFaults(stack, { listing: { lag_ms: 180_000 } });
    const id = await to('900003');
    expect(await steps.send(id)).toEqual({ said: 'silent' });
    await ageAttempts(stack, id, 2);
    expect(await steps.ask(id)).toEqual(repeat);
    expect(await steps.send(id)).toEqual({ said: 'silent' });
    expect(await steps.madeOf(id)).toBe(2);
    expect(await transfersOf(stack, id)).toMatchObject([{ idempotency_key: id }]);
    await setFaults(stack, {});
    await eventually(
      () => steps.ask(id),
      ({ said }) => said === 'succeeded',
    );
    expect(await steps.resolve(id)).toMatchObject({ status: 'succeeded' });
  });

  it('A payout request that the provider accepted is never retried, even if it is no longer listed', async () => {
    const id = await to('131313');
    expect(await steps.send(id)).toMatchObject({ said: 'accepted' });
    await setFaults(stack, { listing: { lag_ms: 180_000 } });
    await ageAttempts(stack, id, 60);
    expect(await steps.ask(id)).toEqual(mayNot);
    expect(await steps.send(id)).toEqual(mayNot);
    expect(await steps.madeOf(id)).toBe(1);
  });

  it('Concurrent runs of the send activity make one attempt', async () => {
    const id = await to('900005');
    await Promise.all([steps.send(id), steps.send(id), steps.send(id)]);
    expect(await steps.madeOf(id)).toBe(1);
    await ageAttempts(stack, id, 2);
    expect(await steps.ask(id)).toEqual(repeat);
    const gateway = steps.openGateway();
    await Promise.all(Array.from({ length: 8 }, () => steps.send(id, { gateway })));
    expect([gateway.requests, await steps.madeOf(id)]).toEqual([1, 2]);
    expect(await transfersOf(stack, id)).toHaveLength(1);
    await expect(
      stack.owner().execute('insert into payout_attempts (payout_id, number) values (?, 9)', [id]),
    ).rejects.toThrow('payout_attempts_one_open');
  });

  it('A payout request that differs from the first one is not sent and is listed as stuck', async () => {
    const id = await to('900005');
    await steps.send(id);
    await ageAttempts(stack, id, 2);
    const { sealer } = stack.deps;
    const texts = { bank_account_number: '00100012222222', beneficiary_name: 'Somebody else', external_ref: null };
    const sealed = await sealer.seal(payoutTextsPlace(id), JSON.stringify(texts));
    expect(await steps.ask(id)).toEqual(repeat);
    await stack.owner().execute('update payouts set texts_sealed = ? where id = ?', [sealed, id]);
    const gateway = steps.openGateway();
    expect(await steps.send(id, { gateway })).toEqual({ said: 'request differs' });
    expect(await steps.ask(id, { gateway })).toEqual({ said: 'request differs' });
    expect(await steps.send(id, { gateway })).toEqual({ said: 'request differs' });
    expect([gateway.requests, await steps.madeOf(id)]).toEqual([0, 1]);
    expect(await stuckReasonOf(id)).toBe(
      'unknown: the transfer was requested, but the request can no longer be repeated or decrypted',
    );
    const { items } = (await partner.get(`/payouts/${id}/timeline`)).body.data;
    expect(items.at(-1).text).toBe(
      'The outcome is unknown: the transfer was requested, and that request can no longer be repeated.',
    );
    await expect(
      stack.owner().execute('update payouts set request_digest = ? where id = ?', ['0'.repeat(64), id]),
    ).rejects.toThrow('never changed');
  });

  it('An unsent payout whose encryption key is lost is stuck until the key is restored', async () => {
    const id = await to('111111');
    await setFaults(stack, { requests: { limit_rate: 1, retry_after_seconds: 1 } });
    expect(await steps.send(id)).toMatchObject({ said: 'unsent' });
    const giveBack = await loseKey(stack, id);
    const sealer = sealerElsewhere(stack.deps);
    await setFaults(stack, {});
    expect(await steps.send(id, { sealer })).toEqual({ said: 'request differs' });
    expect(await stuckReasonOf(id)).toBe(
      'unknown: the request differs from the first one, or can no longer be decrypted; nothing is sent',
    );
    const { items, next } = (await partner.get(`/payouts/${id}/timeline`)).body.data;
    expect(items.at(-1).text).toBe('The transfer can no longer be requested as first prepared; nothing is sent.');
    expect(next).toEqual({
      at: null,
      text: 'Nothing was sent, and nothing will be; our operators are investigating. The money stays reserved.',
    });
    expect(await steps.ask(id, { sealer })).toEqual({ said: 'request differs' });
    expect([await steps.madeOf(id), await transfersOf(stack, id)]).toEqual([0, []]);
    await giveBack();
    expect(await steps.ask(id, { sealer })).toEqual(repeat);
    expect(await steps.send(id, { sealer })).toMatchObject({ said: 'accepted' });
    expect(await transfersOf(stack, id)).toHaveLength(1);
  });

  itInFull('A sent payout whose encryption key is lost is not retried until two people settle it', async () => {
    const id = await to('900005');
    await steps.send(id);
    await ageAttempts(stack, id, 2);
    await loseKey(stack, id);
    const sealer = sealerElsewhere(stack.deps);
    expect(await steps.ask(id, { sealer })).toEqual({ said: 'request differs' });
    expect(await steps.send(id, { sealer })).toEqual({ said: 'request differs' });
    expect(await steps.madeOf(id)).toBe(1);
    expect(await settleAsFailed(id)).toMatchObject({ payout: 'failed', status: 'carried_out' });
  });

  it('A payout whose attempt has no stored request is never retried', async () => {
    const id = await to('900005');
    await stack.owner().execute('insert into payout_attempts (payout_id, number) values (?, 1)', [id]);
    await ageAttempts(stack, id, 5);
    expect(await steps.ask(id)).toEqual(mayNot);
    expect(await steps.send(id)).toEqual(mayNot);
    expect(await steps.madeOf(id)).toBe(1);
  });
});

describe('A worker paused between storing its attempt and the request', () => {
  /** Starts sending, and holds the request after its attempt is stored and before it is sent. */
  async function stopped(id: string) {
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const gateway = steps.openGateway({
      ...unlimited,
      take: ({ follows }) => (follows ? held.then(() => 0) : Promise.resolve(0)),
    });
    const sent = steps.send(id, { gateway });
    await eventually(
      () => steps.madeOf(id),
      (made) => made === 1,
    );
    return { gateway, sent, goOn };
  }

  it('A paused worker never sends if another run has queried and sent in the meantime', async () => {
    const id = await to('111111');
    const { gateway, sent, goOn } = await stopped(id);
    await ageAttempts(stack, id, 2);
    expect(await steps.ask(id)).toEqual(repeat);
    expect(await steps.send(id)).toMatchObject({ said: 'accepted' });
    const before = await steps.rowOf(id);
    goOn();
    await sent;
    expect(gateway.requests).toBe(0);
    expect(await steps.attemptsOf(id)).toMatchObject([{ outcome: 'unsent' }, { outcome: 'accepted' }]);
    expect(await steps.rowOf(id)).toEqual(before);
    expect(await transfersOf(stack, id)).toHaveLength(1);
  });

  it('A paused worker never sends an attempt older than its time-out', async () => {
    const id = await to('111111');
    const { gateway, sent, goOn } = await stopped(id);
    await ageAttempts(stack, id, 1);
    goOn();
    expect(await sent).toEqual({ said: 'unsent' });
    expect(gateway.requests).toBe(0);
    // Nothing was sent before, so this is the first request.
    expect(await steps.send(id)).toMatchObject({ said: 'accepted' });
  });

  it('A paused worker never sends a payout that became final in the meantime', async () => {
    const id = await to('111111');
    const { gateway, sent, goOn } = await stopped(id);
    await hear(id, 'refused', 'CANCELLED');
    await steps.resolve(id);
    goOn();
    await sent;
    expect(gateway.requests).toBe(0);
    expect(await readPayout(partner, id)).toMatchObject({ status: 'failed', failure_code: 'CANCELLED' });
  });
});

describe('A refusal', () => {
  it('A refused retry never fails a payout, because the first request may still be executed', async () => {
    const id = await to('121212');
    // The query before the request is answered; the request is not.
    const gateway = steps.openGateway({
      ...unlimited,
      take: async ({ follows }) => {
        if (follows) await setFaults(stack, { requests: { hang_rate: 1 } });
        return 0;
      },
    });
    expect(await steps.send(id, { gateway })).toEqual({ said: 'silent' });
    await setFaults(stack, {});
    await ageAttempts(stack, id, 2);
    expect(await steps.ask(id)).toEqual(repeat);
    const word = await steps.send(id);
    expect(word).toEqual({ said: 'repeat refused', failureCode: 'INVALID_DESTINATION' });
    expect(await steps.resolve(id)).toMatchObject({ status: 'pending' });
    expect(await stuckReasonOf(id)).toContain('a repeated request was refused');
    expect(await steps.ask(id)).toEqual(mayNot);
    await ageAttempts(stack, id, 3);
    expect(await steps.ask(id)).toEqual(mayNot);
    expect(await steps.resolve(id)).toMatchObject({ status: 'pending' });
    await ageAttempts(stack, id, 7);
    expect(await steps.ask(id)).toEqual(repeat);
    expect(await steps.send(id)).toEqual(word);
    await ageAttempts(stack, id, 3);
    expect(await steps.askAndResolve(id)).toMatchObject({ status: 'pending' });
    expect(await readPayout(partner, id)).toMatchObject({ status: 'pending' });
    expect(await settleAsFailed(id)).toMatchObject({ payout: 'failed', status: 'carried_out' });
    expect(await readPayout(partner, id)).toMatchObject({ failure_code: 'SETTLED_BY_OPERATOR' });
  });

  it('A refusal of the only request that can have arrived fails the payout', async () => {
    const id = await to('121212');
    await setFaults(stack, { requests: { limit_rate: 1 } });
    expect(await steps.send(id)).toMatchObject({ said: 'unsent' });
    await setFaults(stack, {});
    expect(await steps.send(id)).toEqual({ said: 'refused', failureCode: 'INVALID_DESTINATION' });
    expect(await steps.resolve(id)).toMatchObject({ status: 'failed' });
  });

  it('A refused request is not retried and fails the payout even if its activity was lost', async () => {
    const id = await to('121212');
    const refused = { said: 'refused', failureCode: 'INVALID_DESTINATION' };
    expect(await steps.send(id)).toEqual(refused);
    expect(await steps.send(id)).toEqual(refused);
    expect(await steps.askAndResolve(id)).toMatchObject({ status: 'failed' });
    expect(await steps.madeOf(id)).toBe(1);
  });
});

describe('A decision of two people', () => {
  it('A payout cannot be settled as failed within two minutes of an attempt', async () => {
    const id = await to('900005');
    await steps.send(id);
    await ageAttempts(stack, id, 1);
    expect(await settleAsFailed(id)).toMatchObject({
      payout: 'pending',
      status: 'refused',
      reason: expect.stringContaining('may still be in transit'),
    });
    await ageAttempts(stack, id, 1);
    expect(await steps.ask(id)).toEqual(repeat);
    expect(await settleAsFailed(id)).toMatchObject({ payout: 'failed', status: 'carried_out' });
    const gateway = steps.openGateway();
    expect(await steps.send(id, { gateway })).toEqual(mayNot);
    expect([gateway.requests, await steps.madeOf(id)]).toEqual([0, 1]);
    expect(await transfersOf(stack, id)).toEqual([]);
  });
});

describe('A request that the provider answers with 429', () => {
  it('A request answered with 429 is listed as not sent and returns its Retry-After as the delay', async () => {
    await setFaults(stack, { requests: { limit_rate: 1, retry_after_seconds: 7 } });
    const id = await to('111111');
    const limited = { said: 'unsent', restMs: 7_000 };
    for (let time = 0; time < 6; time += 1) {
      const word = await steps.send(id);
      expect(word).toEqual(limited);
      expect(await steps.resolve(id)).toMatchObject({ status: 'pending', unknownSince: expect.any(String) });
    }
    expect(await steps.madeOf(id)).toBe(0);
    expect(await stuckReasonOf(id)).toContain('nothing was sent');
    await setFaults(stack, {});
    expect(await steps.send(id)).toMatchObject({ said: 'accepted' });
    expect(await transfersOf(stack, id)).toHaveLength(1);
  });

  it('A 429 on a status query or a retried request does not change the known or unknown outcome', async () => {
    const accepted = await to('131313');
    await steps.send(accepted);
    const lost = await to('900005');
    await steps.send(lost);
    await ageAttempts(stack, lost, 2);
    expect(await steps.ask(lost)).toEqual(repeat);
    const before = [await steps.rowOf(accepted), await steps.rowOf(lost)];
    await setFaults(stack, { requests: { limit_rate: 1 } });
    expect(await steps.ask(accepted)).toEqual({ said: 'silent', restMs: 1_000 });
    expect(await steps.send(lost)).toEqual({ said: 'silent', restMs: 1_000 });
    expect([await steps.rowOf(accepted), await steps.rowOf(lost)]).toEqual(before);
    expect(await steps.attemptsOf(lost)).toMatchObject([{ outcome: 'unknown' }, { outcome: 'unsent' }]);
    await setFaults(stack, {});
    expect(await steps.send(lost)).toMatchObject({ said: 'accepted' });
  });
});

describe('A payout whose attempt a restore has lost', () => {
  it('A payout whose attempt was lost in a restore is queried before it is requested, however new it is', async () => {
    const id = await to('131313');
    expect(await steps.send(id)).toMatchObject({ said: 'accepted' });
    await withoutTriggers(stack, 'delete from payout_attempts where payout_id = ?', [id]);
    await withoutTriggers(stack, 'update payouts set last_word = null, provider_transfer_id = null where id = ?', [id]);
    const gateway = steps.openGateway();
    expect(await steps.send(id, { gateway })).toMatchObject({ said: 'accepted' });
    expect(gateway.requests).toBe(0);
    expect(await steps.attemptsOf(id)).toMatchObject([{ outcome: 'accepted' }]);
    expect(await transfersOf(stack, id)).toHaveLength(1);
  });
});

describe('The first request, while the call quota is low', () => {
  /** A payout and a gateway whose budget makes status queries wait for `question` ms; `taken` records its calls. */
  async function build(question: 0 | 60_000) {
    const id = await to('111111');
    const taken: boolean[] = [];
    const gateway = steps.openGateway({
      ...unlimited,
      take: async ({ follows = false }) => {
        taken.push(follows);
        return follows ? 0 : question;
      },
    });
    return { id, gateway, taken };
  }

  it('The first request follows its status query at once while the call quota is low', async () => {
    const { id, gateway, taken } = await build(0);
    expect(await steps.send(id, { gateway })).toMatchObject({ said: 'accepted' });
    expect(taken).toEqual([false, true]);
    expect(await steps.attemptsOf(id)).toMatchObject([{ outcome: 'accepted' }]);
  });

  it('No attempt is recorded while the call quota does not allow the status query', async () => {
    const { id, gateway, taken } = await build(60_000);
    expect(await steps.send(id, { gateway })).toEqual({ said: 'unsent', restMs: 60_000 });
    expect(taken).toEqual([false]);
    expect(await steps.attemptsOf(id)).toEqual([]);
  });
});
