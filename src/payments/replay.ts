import { type Answer, answer } from '../http/answer.ts';
import type { StoredAnswer } from './idempotency.ts';

/** The first answer under an idempotency key again, byte for byte. */
export const replay = ({ status, body }: StoredAnswer): Answer =>
  answer(status, Buffer.from(body), { 'Idempotency-Replayed': 'true' });

/** An answer that was made now or before, as it is sent. */
export const sendStored = (stored: StoredAnswer & { replayed: boolean }): Answer =>
  stored.replayed ? replay(stored) : answer(stored.status, Buffer.from(stored.body));
