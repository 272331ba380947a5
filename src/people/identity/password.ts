import { hash, verify } from '@node-rs/argon2';
import { createSemaphore } from '../../shared/concurrency.ts';

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

/** The form in which passwords are hashed: what looks alike on two keyboards is the same (docs/contract.md 1). */
export const normalizePassword = (password: string): string => password.normalize('NFKC');

/**
 * The argon2id hash of a password (`normalizePassword`), parameters and salt included, for a request from this address (in
 * the form of `countedAddress`). Throws SERVICE_UNAVAILABLE when too many wait, or after waiting 10 seconds.
 */
export const hashPassword = (password: string, address = noAddress): Promise<string> =>
  inPlace(address, () => hash(normalizePassword(password), parameters));

/**
 * Whether the password matches the hash, and if so whether only as it was typed: then it is to be hashed anew. Without a
 * hash it does not, after the same work. Waits and throws as `hashPassword` does.
 */
export async function verifyPassword(
  passwordHash: string | null,
  password: string,
  address = noAddress,
): Promise<{ matches: boolean; isAsTyped: boolean }> {
  stranger ??= hash('nobody has this password', parameters);
  const known = passwordHash ?? (await stranger);
  const normal = normalizePassword(password);
  const matches = async (text: string) => (await inPlace(address, () => verify(known, text))) && passwordHash !== null;
  if (await matches(normal)) return { matches: true, isAsTyped: false };
  const isAsTyped = normal !== password && (await matches(password));
  return { matches: isAsTyped, isAsTyped };
}
