import { readFileSync } from 'node:fs';
import { generatedFile, generateTypes } from '../../sdk/generate.ts';

it('The client’s types are those of the API (otherwise: npm run sdk:generate)', () => {
  expect(readFileSync(generatedFile, 'utf8')).toBe(generateTypes());
});
