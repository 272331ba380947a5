import { z } from 'zod';
import { open } from '../../platform/http/access.ts';
import { answer } from '../../platform/http/answer.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import type { Tokens } from './tokens.ts';

interface Ports {
  tokens: Tokens;
}

const routes = createRouteGroup<Ports>({ prefix: '/.well-known', tag: 'Authentication' });

routes.get(
  '/jwks.json',
  {
    summary: 'The public keys that verify access tokens',
    access: open('the keys are public'),
    answers: { 200: z.object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })) }) },
  },
  async ({ deps }) => answer(200, await deps.tokens.jwks(), { 'cache-control': 'public, max-age=5' }),
);

export const wellKnownRoutes = routes;
