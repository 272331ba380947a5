import { hash, verify } from '@node-rs/argon2';
import { createSemaphore } from '../shared/concurrency.ts';

// argon2id with the parameters that OWASP recommends: 19 MiB, two passes, one lane.
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** One hash at a time in this process: each takes a core for some 30 ms, and other requests need one too. */
const semaphore = createSemaphore(1, { mostWaiting: 100 });
const longestWaitMs = 10_000;
/** The queue key where there is no network address: a command run on this machine. */
const noAddress = '';

/** Network addresses take turns: many requests from one do not hold up a login from another. */
async function inPlace<T>(address: string, work: () => Promise<T>): Promise<T> {
  const leave = await semaphore.enter({ key: address, waitMs: longestWaitMs });
  try {
    return await work();
  } finally {
    leave();
  }
}

let stranger: Promise<string> | undefined;

/**
 * The argon2id hash of a password, parameters and salt included, for a request from this address (in the form of
 * `countedAddress`). Throws SERVICE_UNAVAILABLE when too many wait, or after waiting 10 seconds.
 */
export const hashPassword = (password: string, address = noAddress): Promise<string> =>
  inPlace(address, () => hash(password, parameters));

/**
 * Whether the password matches the hash; without a hash false, after the same work. Waits and throws as `hashPassword`
 * does.
 */
export async function verifyPassword(
  passwordHash: string | null,
  password: string,
  address = noAddress,
): Promise<boolean> {
  stranger ??= hash('nobody has this password', parameters);
  const known = passwordHash ?? (await stranger);
  const matches = await inPlace(address, () => verify(known, password));
  return passwordHash !== null && matches;
}
