import { allowedOrigins } from '../../../src/platform/http/security.ts';

describe('An origin', () => {
  const origins = allowedOrigins({
    PUBLIC_URL: 'https://api.example/',
    ALLOWED_ORIGINS: ['https://app.example', 'http://localhost:*'],
  });

  it.each([
    ['https://api.example', true],
    ['https://app.example', true],
    ['http://localhost:5173', true],
    ['http://localhost', true],
    ['https://localhost:5173', false],
    ['http://localhost.evil.example:5173', false],
    ['http://evil.example:5173', false],
    ['http://localhost:*', false],
    ['https://app.example:8443', false],
    ['null', false],
    ['', false],
  ])('The origin %s is allowed: %s', (origin, isAllowed) => {
    expect(origins.has(origin)).toBe(isAllowed);
  });
});
