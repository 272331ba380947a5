import fc from 'fast-check';
import { freeOfCharge, priceCollection } from '../../src/partners/fee.ts';
import { isDomainError } from '../../src/shared/errors.ts';
import { addMoney, compareMoney, isWholeRupiah } from '../../src/shared/money.ts';
import { buildOrganization } from '../support/build.ts';
import { buildPartner } from '../support/partner.ts';
import { isFullRun } from '../support/run.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

/** Money in ten-thousandths of a rupiah, exactly. */
const units = (amount: string): bigint => {
  const [whole = '', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(4, '0'));
};
const money = (max: number) =>
  fc.tuple(fc.integer({ min: 0, max }), fc.integer({ min: 0, max: 9999 })).map(([whole, fraction]) => {
    return `${whole}.${String(fraction).padStart(4, '0')}`;
  });
const rule = fc.record({ fixed: money(20_000), basis_points: fc.integer({ min: 0, max: 10_000 }) });
/** Only rules whose fee is below the largest allowed amount, because other rules are refused. */
const applicable = rule.filter(({ basis_points }) => basis_points <= 9_900);
const mode = fc.constantFrom('DEDUCTED' as const, 'ADDED' as const);

describe('A fee', () => {
  it('Net plus fee equals gross exactly, and a fee with more than four decimals is refused', () => {
    const property = fc.property(mode, money(50_000_000), rule, (feeMode, amount, { fixed, basis_points }) => {
      const share = units(amount) * BigInt(basis_points);
      try {
        const price = priceCollection(feeMode, amount, { ...freeOfCharge, fixed, basis_points });
        expect(share % 10_000n).toBe(0n);
        expect(units(price.fee)).toBe(units(fixed) + share / 10_000n);
        if (!price.net.startsWith('-')) expect(addMoney(price.net, price.fee)).toBe(price.gross);
        expect(units(feeMode === 'DEDUCTED' ? price.gross : price.net)).toBe(units(amount));
      } catch (error) {
        if (!isDomainError(error)) throw error;
        expect(share % 10_000n).not.toBe(0n);
      }
    });
    fc.assert(property, { numRuns: isFullRun() ? 10_000 : 2_000 });
  });

  it('A fee with more digits than an amount can have is refused without a server error', () => {
    const all = { ...freeOfCharge, fixed: '1', basis_points: 10_000 };
    for (const feeMode of ['DEDUCTED', 'ADDED'] as const) {
      expect(() => priceCollection(feeMode, '9999999999999999.9999', all)).toThrow('out of range');
    }
  });
});

describe('Random fee tables', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({ worker: true, sandbox: true });
  }, 60_000);
  afterAll(() => stack.stop());

  const table = fc.record({
    method: fc.option(applicable, { nil: null }),
    channel: fc.option(applicable, { nil: null }),
    organization: fc.option(applicable, { nil: null }),
  });
  const whole = fc.integer({ min: 1, max: 5_000_000 }).map(String);

  it('Quotes and creations agree to the last digit and apply the most specific fee', async () => {
    const partners = {
      DEDUCTED: await buildPartner(stack, { feeMode: 'DEDUCTED' }),
      ADDED: await buildPartner(stack, { feeMode: 'ADDED' }),
    };
    const links = {
      DEDUCTED: await buildOrganization(stack),
      ADDED: await buildOrganization(stack),
    };
    for (const feeMode of ['DEDUCTED', 'ADDED'] as const) {
      await partners[feeMode].administer('post', '/organizations', { organization_id: links[feeMode] });
    }
    const property = fc.asyncProperty(mode, table, whole, fc.boolean(), async (feeMode, rules, amount, linked) => {
      const partner = partners[feeMode];
      const organization_id = links[feeMode];
      const about = { method: 'virtual_account' };
      const fees = [
        ...(rules.method ? [{ ...about, ...rules.method }] : []),
        ...(rules.channel ? [{ ...about, channel: 'BNI', ...rules.channel }] : []),
        ...(rules.organization ? [{ ...about, organization_id, ...rules.organization }] : []),
      ];
      expect((await partner.administer('put', '/fees', { fees })).status).toBe(200);
      const wins = (linked ? rules.organization : null) ?? rules.channel ?? rules.method;
      const body = { ...about, channel: 'BNI', amount, ...(linked && { organization_id }) };
      const quote = await partner.post('/quotes', body, null);
      const creation = await partner.post('/payments', body);
      if (quote.status !== 200) {
        expect([creation.status, creation.body.error.code]).toEqual([quote.status, quote.body.error.code]);
        return;
      }
      const { gross_amount, fee, net_amount } = quote.body.data;
      expect(units(fee)).toBe(
        wins ? units(wins.fixed) + (units(`${amount}.0000`) * BigInt(wins.basis_points)) / 10_000n : 0n,
      );
      expect(addMoney(net_amount, fee)).toBe(gross_amount);
      expect(compareMoney(net_amount, '0')).toBe(1);
      if (!isWholeRupiah(gross_amount)) {
        expect([creation.status, creation.body.error.code]).toEqual([400, 'REQUEST_INVALID_PAYLOAD']);
        return;
      }
      expect(creation.status).toBe(200);
      expect(creation.body.data).toMatchObject({ amount: gross_amount, fee, net_amount });
    });
    await fc.assert(property, { numRuns: isFullRun() ? 80 : 8 });
    await expectChecksEmpty(stack);
  }, 120_000);
});
