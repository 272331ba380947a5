import { lockPayout, recordProviderStatus } from '../../../src/money-out/payouts/record-provider-status.ts';
import { failureCodes } from '../../../src/partners/error-catalogue.ts';
import { readBacklog } from '../../../src/wiring/measure-backlog.ts';
import { type BuiltUser, buildPlatformAdmin } from '../../support/build.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { recountTallies } from '../../support/recount-tallies.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { ageAttempts, buildPayer, reserve, setFaults, settleAtProvider } from './build-payouts.ts';
import { openSteps } from './payout-steps.ts';

/** The activities of a payout without its workflow, and what its partner reads after each. */
let stack: Stack;
let partner: BuiltPartner;
let operator: BuiltUser;
let steps: ReturnType<typeof openSteps>;
beforeAll(async () => {
  stack = await startStack({ sandbox: true });
  steps = openSteps(stack);
  partner = await buildPayer(stack, { available: '100000000' });
  operator = await buildPlatformAdmin(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(() => setFaults(stack, {}));

interface Timeline {
  items: { at: string; type: string; text: string }[];
  next: { at: string; text: string } | null;
}
const to = (lastDigits: string) => reserve(stack, partner, lastDigits);
const timelineOf = async (id: string): Promise<Timeline> => (await partner.get(`/payouts/${id}/timeline`)).body.data;
const textsOf = async (id: string) => (await timelineOf(id)).items.map(({ text }) => text);
const nextOf = async (id: string) => (await timelineOf(id)).next;
/** Returns the ISO 8601 time this many milliseconds after a time in the payout's rows. */
const instantOf = async (column: string, id: string, afterMs: number): Promise<string> => {
  const rows = await stack.em().execute<Record<string, string>[]>(`select ${column} = ?`, [id]);
  const [instant = ''] = Object.values(rows[0] ?? {});
  return new Date(new Date(instant).getTime() + afterMs).toISOString();
};
const limit = (seconds: number) => setFaults(stack, { requests: { limit_rate: 1, retry_after_seconds: seconds } });
const unsentPayouts = async () => (await readBacklog(stack.em())).find(({ what }) => what === 'unsent_payouts')?.rows;
/** Backdates a reservation by 61 minutes, which triggers otherwise forbid. */
async function ageReservation(id: string): Promise<void> {
  await withoutTriggers(stack, "update payouts set created_at = created_at - interval '61 minutes' where id = ?", [id]);
  await recountTallies(stack);
}

describe('The timeline of a payout', () => {
  it('A final payout’s timeline never says "unknown" when the provider is silent at a later check', async () => {
    const id = await to('111111');
    await steps.send(id);
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await steps.askAndResolve(id);
    await setFaults(stack, { requests: { error_rate: 1 } });
    expect(await steps.ask(id)).toEqual({ said: 'silent' });
    const { items, next } = await timelineOf(id);
    expect(items).toContainEqual(expect.objectContaining({ type: 'outcome', text: 'The payout succeeded.' }));
    expect(JSON.stringify(items)).not.toContain('unknown');
    expect(next).toBeNull();
    expect(await steps.rowOf(id)).toMatchObject({ status: 'succeeded', last_word: 'succeeded' });
  });

  it('A payout’s timeline explains that no money moved when the provider contradicts its final status', async () => {
    const id = await to('111111');
    await steps.send(id);
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await steps.askAndResolve(id);
    await settleAtProvider(stack, id, 'FAILED');
    await steps.ask(id);
    const { items, next } = await timelineOf(id);
    // The provider's callback may arrive later.
    expect(items.filter(({ type }) => type === 'provider').at(-1)?.text).toBe(
      'After the final status the provider reported the transfer as "failed": the payout stays succeeded, and no money moved.',
    );
    expect(JSON.stringify(items)).not.toContain('The provider reports that the transfer failed');
    expect(next).toEqual({ at: null, text: expect.stringContaining('our operators are investigating') });
  });

  it('A failure without a reason from the provider is shown as NO_REASON_GIVEN, a documented code', async () => {
    const id = await to('111111');
    await steps.send(id);
    await stack.em().transactional(async (tx) => {
      const report = { said: 'failed', providerTransferId: 'disb-1', failureCode: null } as const;
      await recordProviderStatus(tx, await lockPayout(tx, id), report, new Date());
    });
    await steps.resolve(id);
    expect(await textsOf(id)).toContain('The payout failed: NO_REASON_GIVEN. The provider gave no reason.');
    const { failure_code } = (await partner.get(`/payouts/${id}`)).body.data;
    expect(Object.keys(failureCodes)).toContain(failure_code);
  });

  it('A payout’s timeline reports an unusable response from the provider as unusable', async () => {
    const id = await to('111111');
    await steps.send(id);
    await setFaults(stack, { requests: { error_rate: 1 } });
    await steps.ask(id);
    expect(await textsOf(id)).toContain('The outcome is unknown: the provider gave no usable answer.');
    const { items } = (await stack.get('/v1/payouts/stuck?minutes=0&limit=100', { token: operator.token })).body.data;
    const stuck = items.find((item: { payout_id: string }) => item.payout_id === id);
    expect(stuck?.reason).toBe('unknown: the transfer was sent and the provider gives no usable answer');
  });
});

describe('The next step of a payout', () => {
  it('The next step of a payout waiting after a 429 is the transfer, at the end of the wait', async () => {
    const id = await to('111111');
    await limit(90);
    expect(await steps.send(id)).toEqual({ said: 'unsent', restMs: 60_000 });
    expect(await nextOf(id)).toEqual({
      at: await instantOf('asked_at from payouts where id', id, 60_000),
      text: 'Nothing has been sent to the provider yet; the transfer is sent then. The money stays reserved.',
    });
  });

  it('The next step of a payout that the provider does not have is a retry, with its earliest time', async () => {
    const id = await to('900005');
    await steps.send(id);
    await steps.ask(id);
    const again =
      /^The provider is asked again; if it still does not know the transfer, the same request is repeated under the same key(, in (\d+) seconds at the earliest)?\. The money stays reserved\.$/;
    const [, , seconds] = again.exec((await nextOf(id))?.text ?? '') ?? [];
    expect(Number(seconds)).toBeGreaterThan(60);
    expect(Number(seconds)).toBeLessThanOrEqual(120);
    await ageAttempts(stack, id, 2);
    const [whole, wait] = again.exec((await nextOf(id))?.text ?? '') ?? [];
    expect([whole, wait]).toEqual([expect.any(String), undefined]);
    await ageAttempts(stack, id, 25 * 60);
    expect((await nextOf(id))?.text).not.toContain('same request');
  });
});

describe('Stuck payouts', () => {
  it('A payout not sent within an hour of its reservation is counted in the backlog', async () => {
    expect(await unsentPayouts()).toBe(0);
    const sent = await to('131313');
    await steps.send(sent);
    await ageReservation(sent);
    const held = await to('131313');
    expect(await unsentPayouts()).toBe(0);
    await limit(1);
    await steps.send(held);
    await ageReservation(held);
    expect(await unsentPayouts()).toBe(1);
    const never = await to('131313');
    await ageReservation(never);
    expect(await unsentPayouts()).toBe(2);
  });

  it('Listing stuck payouts with too many minutes returns 400 with the maximum', async () => {
    const { status, body } = await stack.get('/v1/payouts/stuck?minutes=527041', { token: operator.token });
    expect([status, body.message]).toEqual([400, 'minutes: must be a whole number from 0 to 527040']);
  });
});

describe('An id that is not a UUID', () => {
  it.each(['/payouts/abc', '/payouts/abc/timeline', '/payments/abc', '/payments/abc/timeline'])(
    'An id that is not a UUID returns 404: %s',
    async (path) => {
      const { status, body } = await partner.get(path);
      expect([status, body.error.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
    },
  );
});
