import { type Answer, answer } from '../../platform/http/answer.ts';
import type { StoredAnswer } from './idempotency.ts';

/** Replays the first answer under an idempotency key, byte for byte. */
export const replay = ({ status, body }: StoredAnswer): Answer =>
  answer(status, Buffer.from(body), { 'Idempotency-Replayed': 'true' });

/** A new or replayed answer, as it is sent. */
export const sendStored = (stored: StoredAnswer & { replayed: boolean }): Answer =>
  stored.replayed ? replay(stored) : answer(stored.status, Buffer.from(stored.body));
