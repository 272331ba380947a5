import type { SentAnswer } from '../openings/idempotency-keys.ts';
import { type Answer, answer } from './answer.ts';

/** Returns a new response, or the first one for an idempotency key, byte for byte. */
export const sendStored = ({ status, body, replayed }: SentAnswer): Answer =>
  answer(status, Buffer.from(body), replayed ? { 'Idempotency-Replayed': 'true' } : {});
