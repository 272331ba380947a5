import { randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { generateSecret, generateURI, verifySync } from 'otplib';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { Caller } from '../../shared/caller.ts';
import { sha256 } from '../../shared/digest.ts';

// Every authenticator app supports the library's defaults: SHA-1, six digits, 30 seconds.
const toleranceSeconds = 30;
const recoveryCodeCount = 10;
/** 80 bits, so that a code cannot be recovered from its digest. */
const recoveryCodeBytes = 10;

export const placeOfSecret = (userId: string) => ({ table: 'second_factors', column: 'secret_sealed', row: userId });

/** Creates a secret (base32) and the `otpauth` URL with which an authenticator app imports it. */
export function makeSecret(issuer: string, email: string): { secret: string; otpauthUrl: string } {
  const secret = generateSecret();
  return { secret, otpauthUrl: generateURI({ issuer, label: email, secret }) };
}

/** Creates single-use codes for a lost app; only their digests are stored. */
export const makeRecoveryCodes = (): string[] =>
  Array.from({ length: recoveryCodeCount }, () => {
    const [digits] = [randomBytes(recoveryCodeBytes).toString('hex')];
    return digits.match(/.{5}/g)?.join('-') ?? digits;
  });

/** Returns the stored digest of a recovery code, which ignores case and separators. */
export const hashRecoveryCode = (userId: string, code: string): string =>
  sha256(`${userId} ${code.toLowerCase().replaceAll(/[^0-9a-f]/g, '')}`);

export interface SecondFactor {
  id: string;
  /** Distinguishes this second factor from the user's earlier and later ones. */
  mark: string;
  secret_sealed: string;
  confirmed_at: Date | string | null;
}

/** Returns the user's second factor, confirmed or only begun, or null if there is none. */
export async function findSecondFactor(em: EntityManager, userId: string): Promise<SecondFactor | null> {
  const [found] = await em.execute<SecondFactor[]>(
    `select id, secret_sealed, confirmed_at, (extract(epoch from created_at) * 1000000)::bigint::text as mark
     from second_factors where id = ?`,
    [userId],
  );
  return found ?? null;
}

/** Returns whether the session was opened with the user's current second factor. */
export async function hasSecondFactor(
  em: EntityManager,
  { userId, secondFactor }: Pick<Caller, 'userId' | 'secondFactor'>,
): Promise<boolean> {
  if (secondFactor === null) return false;
  const current = await findSecondFactor(em, userId);
  return Boolean(current?.confirmed_at) && current?.mark === secondFactor;
}

/**
 * Spends a code of the user's app, in the caller's transaction. Returns true if the code belongs to the current
 * 30-second step or a neighbouring one, and neither it nor a later code was spent before. Of concurrent uses of a code,
 * one succeeds.
 */
export async function spendAppCode(
  tx: EntityManager,
  sealer: Sealer,
  { id, secret_sealed }: SecondFactor,
  typed: string,
): Promise<boolean> {
  const code = typed.replace(/\s/g, '');
  if (!/^\d{6}$/.test(code)) return false;
  const secret = await sealer.open(placeOfSecret(id), secret_sealed);
  const result = verifySync({ secret, token: code, epochTolerance: toleranceSeconds });
  if (!result.valid || !('timeStep' in result)) return false;
  const spent = await tx.execute<unknown[]>(
    'update second_factors set last_step = ? where id = ? and last_step < ? returning 1',
    [result.timeStep, id, result.timeStep],
  );
  return spent.length > 0;
}

/** As `spendAppCode`, but also accepts one of the user's recovery codes, which it deletes. */
export async function spendCode(
  tx: EntityManager,
  sealer: Sealer,
  factor: SecondFactor,
  code: string,
): Promise<boolean> {
  if (await spendAppCode(tx, sealer, factor, code)) return true;
  const used = await tx.execute<unknown[]>(
    'delete from recovery_codes where user_id = ? and code_hash = ? returning 1',
    [factor.id, hashRecoveryCode(factor.id, code)],
  );
  return used.length > 0;
}
