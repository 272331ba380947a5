import { tellManyMore } from '../../../src/people/mail/tell-many.ts';
import { westernIndonesiaDay } from '../../../src/shared/clock.ts';
import { buildCause } from '../../giving/causes/build-cause.ts';
import { give as giveTo } from '../../giving/donations/build-donations.ts';
import { createSubscriber } from '../../giving/donations/create-subscriber.ts';
import { setFaults, settleAtProvider } from '../../money-out/payouts/build-payouts.ts';
import {
  askDisbursement,
  buildWaitingDisbursement,
  withdraw,
  withdrawalWhen,
} from '../../money-out/withdrawals/build-withdrawals.ts';
import { type BuiltUser, buildIndividual, buildSuperAdmin } from '../../support/build.ts';
import { buildActiveCause } from '../../support/build-targets.ts';
import { secureSession } from '../../support/decide.ts';
import { eventually } from '../../support/eventually.ts';
import { awaitMail, mailsTo } from '../../support/mail.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

describe('Receipts by mail', () => {
  let stack: Stack;
  let causeId: string;
  beforeAll(async () => {
    stack = await startStack({ worker: true });
    ({ id: causeId } = await buildActiveCause(stack));
  });
  afterAll(async () => {
    await expectChecksEmpty(stack);
    await stack?.stop();
  });

  const buildDonor = async (isConfirmed = true) => {
    const donor = await buildIndividual(stack, { balance: '1000000' });
    if (isConfirmed) await stack.em().execute('update users set email_confirmed_at = now() where id = ?', [donor.id]);
    return donor;
  };
  const give = (donor: BuiltUser, cause = causeId, amount = 50_000) => giveTo(stack, donor, amount, cause);
  const kindsOf = async (userId: string) =>
    (
      await stack
        .em()
        .execute<{ kind: string }[]>('select kind from mails where user_id = ? order by created_at', [userId])
    ).map(({ kind }) => kind);

  const endedRound = (kind: string, subject: string) =>
    eventually(
      () =>
        stack
          .em()
          .execute<unknown[]>('select 1 from mail_rounds where kind = ? and subject = ? and ended_at is not null', [
            kind,
            subject,
          ]),
      (ended) => ended.length === 1,
    );

  it('Donors get one receipt per donation by balance or gateway, with amount, cause and unsubscribe link', async () => {
    const donor = await buildDonor();
    expect((await give(donor)).status).toBe(201);
    const mail = await awaitMail(stack, donor.email, /Bukti donasi Anda sebesar Rp 50\.000/);
    expect(mail.text).toMatch(/Rp 50\.000 untuk Well pada \d+ \p{L}+ \d{4} pukul \d\d\.\d\d WIB/u);
    const [, link = ''] = /(http\S+\/unsubscribe\S+)/.exec(mail.text) ?? [];
    const order = await stack.post(
      '/v1/payments/gateway',
      { reference_type: 'charitable_cause_donate', reference_id: causeId, payment_id: 1, amount: 20_000 },
      { token: donor.token },
    );
    expect(order.status).toBe(201);
    await stack.sandbox.post('/sandbox/pay', { payment_code: order.body.data.payment_code });
    await awaitMail(stack, donor.email, /Rp 20\.000/);
    expect(await kindsOf(donor.id)).toEqual(['donation', 'donation']);
    expect((await fetch(link)).status).toBe(200);
    expect((await fetch(link.replace('receipts', 'reminders'), { method: 'POST' })).status).toBe(400);
    expect((await fetch(link, { method: 'POST' })).status).toBe(200);
    expect((await give(donor)).status).toBe(201);
    expect(await kindsOf(donor.id)).toHaveLength(2);
  });

  it('No receipt is sent for a withdrawal that the bank has already returned', async () => {
    const owner = await buildDonor();
    const { id } = await withdraw(stack, owner, { digits: '131313' });
    await eventually(
      () => stack.em().execute<unknown[]>("select 1 from payouts where id = ? and last_word = 'accepted'", [id]),
      (accepted) => accepted.length === 1,
    );
    await setFaults(stack, { callbacks: { drop: true } });
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await setFaults(stack, {});
    await settleAtProvider(stack, id, 'REVERSED');
    await withdrawalWhen(stack, owner, id, 'reversed');
    const told = await eventually(
      () => stack.em().execute<{ status: string }[]>('select status from mails where resource_id = ?', [id]),
      ([mail]) => mail?.status !== 'pending',
    );
    expect(told).toEqual([{ status: 'silenced' }]);
  });

  it('Receipts are sent for subscription periods and withdrawals', async () => {
    const donor = await buildDonor();
    await createSubscriber(() => ({ stack, donor, causeId })).begin();
    await withdraw(stack, donor);
    await awaitMail(stack, donor.email, /donasi rutin Anda sebesar Rp 1\.000/);
    const paid = await awaitMail(stack, donor.email, /Penarikan Anda sebesar Rp 100\.000/);
    expect(paid.text).toContain('BRI');
  });

  it('Donors get one receipt for an open donation, and a notice when it is allocated to a cause', async () => {
    const donor = await buildDonor();
    const late = await buildDonor(false);
    const pool = (await stack.get('/v1/donations/open-pool', { token: donor.token })).body.data.account_id;
    const ids = await Promise.all(
      [donor, late].map(async ({ id, token, accountId }) => {
        const gift = { reference_type: 'charitable_cause_open_donate', reference_id: pool, amount: 3_000 };
        await stack.post('/v1/payments/balance', { ...gift, source_account_id: accountId }, { token });
        const [row] = await stack.em().execute<[{ id: string }]>('select id from donations where user_id = ?', [id]);
        return row.id;
      }),
    );
    await stack.em().execute('update users set email_confirmed_at = now() where id = ?', [late.id]);
    // Deletes the mail as retention does after months; retries, because a mail arrives before it is marked as sent.
    await eventually(
      () =>
        stack
          .owner()
          .execute<unknown[]>("delete from mails where user_id = ? and status = 'sent' returning 1", [donor.id]),
      (deleted) => deleted.length === 1,
    );
    expect(await mailsTo(stack, donor.email)).toHaveLength(1);
    const { token } = await buildSuperAdmin(stack);
    const allocated = await stack.post('/v1/donations/allocate', { donation_ids: ids, cause_id: causeId }, { token });
    expect(allocated.status).toBe(200);
    await awaitMail(stack, donor.email, /disalurkan ke Well/);
    for (const { id } of [donor, late]) expect(await kindsOf(id)).toEqual(['allocation']);
  });

  const approveTwice = async (decisionId: string) => {
    for (let approver = 0; approver < 2; approver += 1) {
      const token = await secureSession(stack, (await buildSuperAdmin(stack)).id);
      await stack.post(`/v1/decisions/${decisionId}/approve`, undefined, { token });
    }
  };

  it('Donors of a cause are notified of its disbursements, at most once a day', async () => {
    const { id, owner, causeId: cause, decisionId } = await buildWaitingDisbursement(stack);
    const [donor, late, other] = await Promise.all([buildDonor(), buildDonor(), buildDonor()]);
    for (const giver of [donor, donor]) await give(giver, cause);
    await give(other);
    await approveTwice(decisionId);
    await withdrawalWhen(stack, owner, id, 'succeeded');
    await give(late, cause);
    const mail = await awaitMail(stack, donor.email, /telah menyalurkan Rp 400\.000/);
    expect(mail.text).toContain('Tujuannya menurut pengelola: Two pumps and their pipes');
    await endedRound('disbursement', id);
    expect(await kindsOf(donor.id)).toEqual(['donation', 'donation', 'disbursement']);
    expect(await kindsOf(late.id)).toEqual(['donation']);
    expect(await kindsOf(other.id)).toEqual(['donation']);
    const disburseMore = async () => {
      const more = await askDisbursement(stack, owner, cause, '50000');
      await approveTwice(more.decisionId);
      await endedRound('disbursement', more.id);
    };
    await disburseMore();
    expect(await kindsOf(donor.id)).toEqual(['donation', 'donation', 'disbursement']);
    expect(await kindsOf(late.id)).toEqual(['donation', 'disbursement']);
    await stack
      .owner()
      .execute("update mails set created_at = created_at - interval '25 hours' where user_id = ?", [donor.id]);
    await disburseMore();
    expect(await kindsOf(donor.id)).toEqual(['donation', 'donation', 'disbursement', 'disbursement']);
    expect(await kindsOf(late.id)).toEqual(['donation', 'disbursement']);
  });

  it('Donors get one mail in January with their donations of the year', async () => {
    const [donor, idle] = await Promise.all([buildDonor(), buildDonor()]);
    for (const amount of [50_000, 20_000]) await give(donor, causeId, amount);
    const year = Number(westernIndonesiaDay(new Date()).slice(0, 4));
    const january = new Date(`${year + 1}-01-02T00:00:00Z`);
    await Promise.all([1, 2].map(() => tellManyMore(stack.em(), january)));
    await endedRound('year_statement', String(year));
    await tellManyMore(stack.em(), january);
    const mail = await awaitMail(stack, donor.email, new RegExp(`Donasi Anda tahun ${year}: Rp 70\\.000`));
    expect(mail.text).toContain('Jumlah donasi: 2.');
    expect(await kindsOf(donor.id)).toEqual(['donation', 'donation', 'year_statement']);
    expect(await kindsOf(idle.id)).toEqual([]);
  });

  it('A receipt is sent for a top-up', async () => {
    const donor = await buildDonor();
    const order = await stack.post(
      '/v1/payments/gateway',
      { reference_type: 'account_top_up', reference_id: donor.accountId, payment_id: 1, amount: 20_000 },
      { token: donor.token },
    );
    await stack.sandbox.post('/sandbox/pay', { payment_code: order.body.data.payment_code });
    const mail = await awaitMail(stack, donor.email, /isi saldo Anda sebesar Rp 20\.000/);
    expect(mail.text).toContain('melalui BCA Virtual Account');
    expect(mail.text).toContain('Biayanya Rp 4.000');
    expect(await kindsOf(donor.id)).toEqual(['top_up']);
  });

  it('The creator and managers of a cause are notified of its approval and of each stop', async () => {
    const [creator, manager] = await Promise.all([buildDonor(), buildDonor()]);
    const { token } = await buildSuperAdmin(stack);
    const id = await buildCause(stack, creator);
    const assigning = { user_id: manager.id };
    await stack.post(`/v1/charitable-causes/${id}/assign-manager`, assigning, { token: creator.token });
    await stack.patch(`/v1/charitable-causes/${id}/approve`, {}, { token });
    await awaitMail(stack, creator.email, /Program Anda Clean water telah disetujui/);
    for (const what of ['stop', 'reinstate', 'stop']) {
      const answer = await stack.post(
        `/v1/charitable-causes/${id}/${what}`,
        { reason: 'Reported as false' },
        { token },
      );
      expect(answer.status).toBe(200);
    }
    const mail = await awaitMail(stack, manager.email, /Program Anda Clean water dihentikan/);
    expect(mail.text).not.toContain('Reported');
    for (const organizer of [creator, manager]) {
      expect(await kindsOf(organizer.id)).toEqual(['cause_approved', 'cause_stopped', 'cause_stopped']);
    }
  });

  it('No receipt is sent to an unconfirmed address', async () => {
    const donor = await buildDonor(false);
    expect((await give(donor)).status).toBe(201);
    expect(await kindsOf(donor.id)).toEqual([]);
    expect(await mailsTo(stack, donor.email)).toEqual([]);
  });

  it('No receipt is sent after receipts were turned off, even if already recorded', async () => {
    const donor = await buildDonor();
    await stack.owner().transactional(async (tx) => {
      await tx.execute("select tell('donation', ?, null, array[?]::uuid[])", [causeId, donor.id]);
      await tx.execute('update users set takes_receipts = false where id = ?', [donor.id]);
    });
    const [row] = await eventually(
      () => stack.em().execute<{ status: string }[]>('select status from mails where user_id = ?', [donor.id]),
      ([row]) => row?.status !== 'pending',
    );
    expect(row?.status).toBe('silenced');
  });
});
