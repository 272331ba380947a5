import { readFileSync } from 'node:fs';
import { generatedFile, generateTypes } from '../../dev/generate-sdk.ts';

it('The client’s types match the API (otherwise: npm run sdk:generate)', () => {
  expect(readFileSync(generatedFile, 'utf8')).toBe(generateTypes());
});
