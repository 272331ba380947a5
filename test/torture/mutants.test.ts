import { fits, readMutants } from './mutants.ts';

it.each(readMutants().map((mutant) => [mutant.name, mutant] as const))(
  'The mutant %s applies to the code',
  (_, mutant) => {
    expect(fits(mutant)).toBe(true);
  },
);
