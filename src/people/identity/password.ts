import { hash, verify } from '@node-rs/argon2';
import type { Place, Sealer } from '../../platform/encryption/sealer.ts';
import { createSemaphore } from '../../shared/concurrency.ts';

// argon2id with the parameters that OWASP recommends: 19 MiB, two passes, one lane.
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/**
 * Passwords are hashed one at a time per process: each hash occupies a core for some 30 ms, which other requests need
 * too.
 */
const semaphore = createSemaphore(1, { mostWaiting: 100 });
const longestWaitMs = 10_000;
/** The queue key where there is no network address: a command run on this machine. */
const noAddress = '';

/** Sign-ups share the turn of one address: however many there are, a login waits for at most one of them. */
const turnOfSignUps = 'sign-ups';
/** Sign-ups take turns among themselves by address. */
const signUps = createSemaphore(1, { mostWaiting: 100 });

/**
 * The origin of a request, in the form of `countedAddress`, and whether its account has logged in from there before.
 */
interface Origin {
  address: string;
  goesFirst?: boolean;
}

/**
 * Network addresses take turns, so that many requests from one address do not hold up a login from another. Known
 * logins get every second turn, so that requests from very many addresses hold up only unknown ones, and a flood of
 * known logins holds up no others.
 */
async function inPlace<T>({ address, goesFirst = false }: Origin, work: () => Promise<T>): Promise<T> {
  const leave = await semaphore.enter({ key: address, goesFirst, waitMs: longestWaitMs });
  try {
    return await work();
  } finally {
    leave();
  }
}

/** The owner of the password; null where no password is sealed. */
interface Account {
  id: string;
  password_sealed?: string | null;
}

const placeOf = (userId: string): Place => ({ table: 'users', column: 'password_sealed', row: userId });
const nobody = '00000000-0000-0000-0000-000000000000';
const strangers = new WeakMap<Sealer, Promise<string>>();

/** Returns the sealed hash that is checked if an account has none. */
function strangerOf(sealer: Sealer): Promise<string> {
  const made =
    strangers.get(sealer) ?? hash('nobody has this password', parameters).then((it) => seal(sealer, nobody, it));
  strangers.set(sealer, made);
  return made;
}

const seal = (sealer: Sealer, userId: string, hashed: string): Promise<string> => sealer.seal(placeOf(userId), hashed);

/**
 * Returns the form in which passwords are hashed, so that input from different keyboards matches (docs/contract.md 1).
 */
export const normalizePassword = (password: string): string => password.normalize('NFKC');

/**
 * Returns the sealed argon2id hash of a user's password (`normalizePassword`), including parameters and salt. The
 * request from `address` (in the form of `countedAddress`) goes first, because its user is authenticated. The seal is
 * bound to this user's row: an attacker who can write to the database can neither forge a hash nor copy another user's,
 * and logs never show one. Throws SERVICE_UNAVAILABLE if too many requests wait, or after waiting 10 seconds.
 */
export const hashPassword = (sealer: Sealer, userId: string, password: string, address = noAddress): Promise<string> =>
  hashInPlace(sealer, userId, password, { address, goesFirst: true });

/** As `hashPassword`, for somebody who signs up from this address. */
export async function hashForSignUp(
  sealer: Sealer,
  userId: string,
  password: string,
  address: string,
): Promise<string> {
  const leave = await signUps.enter({ key: address, waitMs: longestWaitMs });
  try {
    return await hashInPlace(sealer, userId, password, { address: turnOfSignUps });
  } finally {
    leave();
  }
}

const hashInPlace = async (sealer: Sealer, userId: string, password: string, origin: Origin): Promise<string> =>
  seal(sealer, userId, await inPlace(origin, () => hash(normalizePassword(password), parameters)));

/**
 * Returns whether the password is the account's, and whether it matches only before normalization and must be rehashed.
 * Without a hash returns false after the same work. Waits and throws as `hashPassword` does, and throws if the hash was
 * sealed for another row.
 */
export async function verifyPassword(
  sealer: Sealer,
  account: Account | null,
  password: string,
  origin: Origin = { address: noAddress },
): Promise<{ matches: boolean; isAsTyped: boolean }> {
  const sealed = account?.password_sealed ?? null;
  const known = await (account && sealed !== null
    ? sealer.open(placeOf(account.id), sealed)
    : sealer.open(placeOf(nobody), await strangerOf(sealer)));
  const normal = normalizePassword(password);
  const matches = async (text: string) => (await inPlace(origin, () => verify(known, text))) && sealed !== null;
  if (await matches(normal)) return { matches: true, isAsTyped: false };
  const isAsTyped = normal !== password && (await matches(password));
  return { matches: isAsTyped, isAsTyped };
}
