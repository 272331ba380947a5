import { fits, judgeMutant, readMutants } from './mutants.ts';

it.each(readMutants().map((mutant) => [mutant.name, mutant] as const))(
  'The mutant %s applies to the code',
  (_, mutant) => {
    expect(fits(mutant)).toBe(true);
  },
);

const [calm, late] = [
  { by: ['webhooks-arrive', 'checks-are-empty'], lateness: false },
  { by: ['comes-to-rest'], lateness: true },
];

it.each([
  ['not found without findings', calm, [], 'not found'],
  ['not found by an oracle that it does not name', calm, ['parts-live', 'times-are-true'], 'not found'],
  ['found by one of the oracles that it names', calm, ['parts-live', 'checks-are-empty'], 'found'],
  ['found by a finding that time may resolve, if nothing is late', calm, ['webhooks-arrive'], 'found'],
  [
    'not found by a finding that time may resolve, if something is late',
    calm,
    ['webhooks-arrive', 'comes-to-rest'],
    'not found',
  ],
  [
    'found by a finding that time never resolves, if something is late',
    calm,
    ['checks-are-empty', 'comes-to-rest'],
    'found',
  ],
  [
    'found by lateness, if lateness is its sign and the product is not late',
    late,
    ['comes-to-rest'],
    'found if the product is healthy',
  ],
  ['not found by another’s finding if lateness is its sign', late, ['parts-live'], 'not found'],
] as const)('A mutant is %s', (_, mutant, found, judged) => {
  expect(judgeMutant(mutant, found)).toBe(judged);
});
