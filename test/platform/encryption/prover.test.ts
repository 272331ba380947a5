import { createProver } from '../../../src/platform/encryption/prover.ts';

const keyOf = (id: string, byte: number) => ({ id, key: new Uint8Array(32).fill(byte) });
const old = keyOf('old', 1);
const young = keyOf('young.2', 2);
const facts = { amount: '10000.0000', to: null, texts: { note: 'a', list: [1, 2] }, left: undefined };
const about = 'opening payout 1';
/** Returns the value as Temporal delivers it. */
const travel = <Facts>(value: Facts): Facts => JSON.parse(JSON.stringify(value));

describe('A proof', () => {
  const prover = createProver([young, old]);

  it('A proof is accepted with the facts that it covers, and is removed from the result', () => {
    const proved = travel(prover.prove(about, facts));
    expect(prover.check(about, proved)).toEqual({ amount: '10000.0000', to: null, texts: { note: 'a', list: [1, 2] } });
  });

  it('A proof by an older key is accepted while that key is configured', () => {
    const proved = travel(createProver([old]).prove(about, facts));
    expect(prover.check(about, proved)).not.toBeNull();
    expect(createProver([young]).check(about, proved)).toBeNull();
  });

  it.each<[string, string, (proved: Record<string, unknown>) => object]>([
    ['about another resource', 'opening payout 2', (proved) => proved],
    ['of another kind', 'opening payment_order 1', (proved) => proved],
    ['with another amount', about, (proved) => ({ ...proved, amount: '10001.0000' })],
    ['with one field more', about, (proved) => ({ ...proved, to: null, more: 1 })],
    ['with one field less', about, ({ to: _, ...proved }) => proved],
    ['without a proof', about, ({ proof: _, ...proved }) => proved],
    ['with an empty proof', about, (proved) => ({ ...proved, proof: '' })],
    ['with a proof that is not a string', about, (proved) => ({ ...proved, proof: { toString: () => proved.proof } })],
    [
      'with a proof under the id of another key',
      about,
      ({ proof, ...facts }) => ({ ...facts, proof: String(proof).replace('young.2', 'old') }),
    ],
    [
      'with a proof under no key',
      about,
      ({ proof, ...facts }) => ({ ...facts, proof: String(proof).slice('young.2.'.length) }),
    ],
    ['with a truncated proof', about, ({ proof, ...facts }) => ({ ...facts, proof: String(proof).slice(0, -1) })],
  ])('The prover rejects facts %s', (_, claimed, change) => {
    const proved = travel(prover.prove(about, facts));
    expect(prover.check(claimed, travel(change(proved)))).toBeNull();
  });

  it('A proof depends on the bytes of its key, not only on the id of the key', () => {
    const [mine, other] = [old, keyOf('old', 2)].map((key) => createProver([key]).prove(about, facts).proof);
    expect(mine).not.toBe(other);
    expect(mine).toMatch(/^old\.[\w-]{43}$/);
  });
});
