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

/** Sign-ups share the turn of one address: however many come, from wherever, a login waits for one of them. */
const turnOfSignUps = 'sign-ups';
/** Among themselves they take turns by their addresses. */
const signUps = createSemaphore(1, { mostWaiting: 100 });

/**
 * The origin of a request, in the form of `countedAddress`, and whether its account has logged in from there before.
 */
interface Origin {
  address: string;
  goesFirst?: boolean;
}

/**
 * Network addresses take turns: many requests from one do not hold up a login from another. Known logins go first: requests
 * from very many addresses hold up only strangers.
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

/** The sealed hash checked when an account has none. */
function strangerOf(sealer: Sealer): Promise<string> {
  const made =
    strangers.get(sealer) ?? hash('nobody has this password', parameters).then((it) => seal(sealer, nobody, it));
  strangers.set(sealer, made);
  return made;
}

const seal = (sealer: Sealer, userId: string, hashed: string): Promise<string> => sealer.seal(placeOf(userId), hashed);

/** The form in which passwords are hashed, so that input from different keyboards matches (docs/contract.md 1). */
export const normalizePassword = (password: string): string => password.normalize('NFKC');

/**
 * The argon2id hash of a user's password (`normalizePassword`), parameters and salt included, for a request from this
 * address (in the form of `countedAddress`) by somebody who has proven who they are, and goes first. It is sealed for the
 * row of this user: whoever writes to the database can neither make one nor copy another's, and no log shows it. Throws
 * SERVICE_UNAVAILABLE when too many wait, or after waiting 10 seconds.
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
 * Whether the password is the account's, and whether it matches only before normalization, in which case it must be
 * rehashed. False without a hash, after the same work. Waits and throws as `hashPassword` does, and throws when the
 * hash was sealed for another row.
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
