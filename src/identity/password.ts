import { hash, verify } from '@node-rs/argon2';
import { createPlaces } from '../shared/turns.ts';

// argon2id with the parameters that OWASP names: 19 MiB, two passes, one lane.
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Hashes at a time in this process: each takes a core for some 30 ms, and other requests need one, too. */
const places = createPlaces(1, { mostWaiting: 500 });

async function inPlace<T>(work: () => Promise<T>): Promise<T> {
  const leave = await places.enter();
  try {
    return await work();
  } finally {
    leave();
  }
}

let stranger: Promise<string> | undefined;

/** The argon2id hash of a password, parameters and salt included. */
export const hashPassword = (password: string): Promise<string> => inPlace(() => hash(password, parameters));

/** Whether the password is the one behind the hash; without a hash the same work is done for nothing. */
export async function verifyPassword(passwordHash: string | null, password: string): Promise<boolean> {
  stranger ??= hash('nobody has this password', parameters);
  const known = passwordHash ?? (await stranger);
  const matches = await inPlace(() => verify(known, password));
  return passwordHash !== null && matches;
}
