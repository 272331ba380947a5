import { findUnnested, flattenBudgets, nestings } from './nestings.ts';

const flat = flattenBudgets();

describe('Time-outs', () => {
  it('Every inner time-out expires before its outer one', () => {
    expect(findUnnested(flat)).toEqual([]);
  });

  it.each(nestings)('Time-outs are rejected unless %s expires before %s', (inner, outer) => {
    const as = { ...flat, [inner]: flat[outer] ?? 0 };
    expect(findUnnested(as)).toContainEqual(
      expect.stringContaining(`${inner} (${flat[outer]}) does not expire before`),
    );
    expect(findUnnested({ ...flat, [inner]: 0 })).not.toEqual([]);
  });

  it.each(['steps.instrument', 'steps.provider', 'steps.reconciliation'])(
    'Time-outs are rejected if a call to the provider leaves %s no time to write',
    (step) => {
      const as = { ...flat, [step]: (flat['provider.call'] ?? 0) + 1 };
      expect(findUnnested(as)).toContainEqual(expect.stringMatching(`leaves ${step} .* no time to write`));
    },
  );

  it('Every time-out is in a pair of inner and outer, and every pair names existing time-outs', () => {
    const nested = new Set(nestings.flat());
    expect(Object.keys(flat).filter((name) => !nested.has(name))).toEqual([]);
    expect([...nested].filter((name) => flat[name] === undefined)).toEqual([]);
  });
});
