import { findUnnested, flattenBudgets, nestings } from './nestings.ts';

const flat = flattenBudgets();

describe('Budgets', () => {
  it('nest', () => {
    expect(findUnnested(flat)).toEqual([]);
  });

  it.each(nestings)('are refused when %s does not end before %s', (inner, outer) => {
    const as = { ...flat, [inner]: flat[outer] ?? 0 };
    expect(findUnnested(as)).toContainEqual(expect.stringContaining(`${inner} (${flat[outer]}) does not end before`));
    expect(findUnnested({ ...flat, [inner]: 0 })).not.toEqual([]);
  });

  it.each(['steps.instrument', 'steps.provider', 'steps.reconciliation'])(
    'are refused when a call to the provider leaves %s no time to write',
    (step) => {
      const as = { ...flat, [step]: (flat['provider.call'] ?? 0) + 1 };
      expect(findUnnested(as)).toContainEqual(expect.stringMatching(`leaves ${step} .* no time to write`));
    },
  );

  it('each belong to a pair', () => {
    const nested = new Set(nestings.flat());
    expect(Object.keys(flat).filter((name) => !nested.has(name))).toEqual([]);
    expect([...nested].filter((name) => flat[name] === undefined)).toEqual([]);
  });
});
