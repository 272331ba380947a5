import { z } from 'zod';
import { open } from '../http/access.ts';
import { answer } from '../http/answer.ts';
import { createRoom } from '../http/room.ts';

const room = createRoom({ prefix: '/.well-known', tag: 'Authentication' });

room.get(
  '/jwks.json',
  {
    summary: 'The public keys that access tokens are signed with',
    access: open('the keys are public'),
    answers: { 200: z.object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })) }) },
  },
  async ({ deps }) => answer(200, await deps.tokens.jwks(), { 'cache-control': 'public, max-age=5' }),
);

export const wellKnownRoom = room;
