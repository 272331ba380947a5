import { createRandom } from './random.ts';

it('The same seed draws the same numbers, and another seed draws others', () => {
  const draw = (seed: number) => {
    const random = createRandom(seed);
    return Array.from({ length: 50 }, () => random.int(1, 1_000_000));
  };
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
});

it('Numbers lie within their bounds, and each weighted name is drawn in proportion to its weight', () => {
  const random = createRandom(1);
  const drawn = Array.from({ length: 10_000 }, () => random.weighted({ often: 9, seldom: 1, never: 0 }));
  const seldom = drawn.filter((name) => name === 'seldom').length;
  expect(seldom).toBeGreaterThan(800);
  expect(seldom).toBeLessThan(1_200);
  expect(drawn).not.toContain('never');
  for (let turn = 0; turn < 1_000; turn += 1) {
    expect([3, 4, 5]).toContain(random.int(3, 5));
  }
});
