import type { MikroORM } from '@mikro-orm/postgresql';
import {
  createRemoteJWKSet,
  decodeJwt,
  type JWK,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
  SignJWT,
} from 'jose';
import type { Config } from '../../platform/config/config.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { budgets } from '../../shared/budgets.ts';
import type { TokenMark } from '../../shared/caller.ts';
import { endOfTime } from '../../shared/clock.ts';
import { sha256 } from '../../shared/digest.ts';
import { DomainError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { UserType } from '../../shared/user.ts';
import { isUuid } from '../../shared/uuid.ts';
import { createSigningKeys } from './signing-keys.ts';

/** The claims of a valid token: the user, and the id by which it is revoked; never permissions. */
export interface TokenClaims extends TokenMark {
  userId: string;
  expiresAt: Date;
  /** The mark of the second factor given at login, in addition to the password; null without one. */
  secondFactor: string | null;
}

export interface TokenSubject {
  userId: string;
  userType: UserType;
  organizationId: string | null;
  /** The user's `token_generation` when the password was checked; 0 by default. */
  generation?: number;
  secondFactor?: string | null;
}

export interface SignedToken {
  token: string;
  /** The token's `jti`, by which it is revoked. */
  tokenId: string;
  expiresInSeconds: number;
}

export interface Tokens {
  /** Signs an access token for a user, valid for `AUTH_TOKEN_TTL_SECONDS`. */
  sign(subject: TokenSubject): Promise<SignedToken>;
  /** Verifies a token of ours or of the trusted external issuer; throws UNAUTHENTICATED for anything else. */
  verify(token: string): Promise<TokenClaims>;
  /** The public keys, as `/.well-known/jwks.json` publishes them. */
  jwks(): Promise<{ keys: JWK[] }>;
}

const tokenType = 'at+jwt';
/** The value of the claim `amr` for a one-time code (RFC 8176). */
const secondFactorMethod = 'otp';
/** Maximum cached verified tokens, about 10 MB. */
const verifiedTokensKept = 20_000;

const unauthenticated = (cause?: unknown) => new DomainError('UNAUTHENTICATED', 'The token is not valid', { cause });

interface TokensInput {
  config: Pick<
    Config,
    | 'AUTH_ISSUER'
    | 'AUTH_AUDIENCE'
    | 'AUTH_TOKEN_TTL_SECONDS'
    | 'AUTH_EXTERNAL_JWKS_URL'
    | 'AUTH_EXTERNAL_ISSUER'
    | 'AUTH_EXTERNAL_AUDIENCE'
  >;
  orm: MikroORM;
  sealer: Sealer;
}

/**
 * Creates and verifies access tokens: JWTs signed with EdDSA, with pinned algorithm, issuer, audience and type
 * (docs/contract.md 1).
 */
export function createTokens({ config, orm, sealer }: TokensInput): Tokens {
  const ttlSeconds = config.AUTH_TOKEN_TTL_SECONDS;
  const keys = createSigningKeys({ orm, sealer, tokenTtlSeconds: ttlSeconds });
  const externalKeys = config.AUTH_EXTERNAL_JWKS_URL
    ? createRemoteJWKSet(new URL(config.AUTH_EXTERNAL_JWKS_URL), { timeoutDuration: budgets.reach.issuer })
    : undefined;

  const ownKey: JWTVerifyGetKey = async ({ kid }) => {
    const key = await keys.find(kid ?? '');
    if (!key) throw unauthenticated();
    return key;
  };

  // The claims of a verified token never change; only its expiry and its key are checked again.
  const verified = new Map<string, TokenClaims & { keyId: string }>();

  function rememberVerified(token: string, claims: TokenClaims, keyId: string): TokenClaims {
    if (verified.size >= verifiedTokensKept) {
      for (const [oldest] of verified) {
        verified.delete(oldest);
        if (verified.size <= verifiedTokensKept / 2) break;
      }
    }
    verified.set(token, { ...claims, keyId });
    return claims;
  }

  async function verifyOwn(token: string): Promise<TokenClaims> {
    const known = verified.get(token);
    if (known && known.expiresAt.getTime() > Date.now() && keys.isPublished(known.keyId)) return known;
    const { payload, protectedHeader } = await jwtVerify(token, ownKey, {
      algorithms: ['EdDSA'],
      issuer: config.AUTH_ISSUER,
      audience: config.AUTH_AUDIENCE,
      typ: tokenType,
      requiredClaims: ['sub', 'jti', 'exp', 'iat'],
    });
    const { generation = 0, second_factor } = payload;
    if (!Number.isSafeInteger(generation)) throw unauthenticated();
    const secondFactor = typeof second_factor === 'string' ? second_factor : null;
    const claims = { ...claimsOf(payload, payload.jti), generation: Number(generation), secondFactor };
    return rememberVerified(token, claims, protectedHeader.kid ?? '');
  }

  async function verifyExternal(token: string, getKey: JWTVerifyGetKey): Promise<TokenClaims> {
    const issuer = config.AUTH_EXTERNAL_ISSUER ?? '';
    const { payload } = await jwtVerify(token, getKey, {
      algorithms: ['EdDSA', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'],
      issuer,
      audience: config.AUTH_EXTERNAL_AUDIENCE ?? config.AUTH_AUDIENCE,
      requiredClaims: ['sub', 'jti', 'exp'],
    });
    // The digest separates external ids from ours. Without `jti` a token could not be revoked.
    return claimsOf(payload, sha256(`${issuer} ${payload.jti}`));
  }

  return {
    async sign({ userId, userType, organizationId, generation = 0, secondFactor = null }) {
      const { id, key } = await keys.signer();
      const tokenId = newId();
      const token = await new SignJWT({
        user_type: userType,
        organization_id: organizationId,
        generation,
        amr: ['pwd', ...(secondFactor === null ? [] : [secondFactorMethod])],
        ...(secondFactor !== null && { second_factor: secondFactor }),
      })
        .setProtectedHeader({ alg: 'EdDSA', kid: id, typ: tokenType })
        .setIssuer(config.AUTH_ISSUER)
        .setAudience(config.AUTH_AUDIENCE)
        .setSubject(userId)
        .setJti(tokenId)
        .setIssuedAt()
        .setExpirationTime(`${ttlSeconds}s`)
        .sign(key);
      return { token, tokenId, expiresInSeconds: ttlSeconds };
    },
    async verify(token) {
      try {
        if (externalKeys && decodeJwt(token).iss === config.AUTH_EXTERNAL_ISSUER) {
          return await verifyExternal(token, externalKeys);
        }
        return await verifyOwn(token);
      } catch (error) {
        if (isJoseRefusal(error)) throw unauthenticated(error);
        throw error;
      }
    },
    async jwks() {
      return { keys: await keys.published() };
    },
  };
}

/** Returns the claims trusted in any issuer's token: subject, id, issue and expiry. */
function claimsOf({ sub, exp, iat }: JWTPayload, tokenId: unknown): TokenClaims {
  if (typeof sub !== 'string' || !isUuid(sub)) throw unauthenticated();
  if (typeof tokenId !== 'string' || typeof exp !== 'number') throw unauthenticated();
  const issuedAt = iat === undefined ? null : new Date(iat * 1000);
  // A revocation is stored until the token expires, and the database refuses times from `endOfTime` on.
  const expiresAt = new Date(Math.min(exp * 1000, endOfTime.getTime() - 1));
  return { userId: sub, tokenId, expiresAt, generation: null, issuedAt, secondFactor: null };
}

/** Returns whether jose refused the token: with an error code, or a TypeError if the text is no token. */
function isJoseRefusal(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  if ('code' in error && error.code === 'ERR_JWKS_TIMEOUT') return false;
  return ('code' in error && String(error.code).startsWith('ERR_J')) || ('name' in error && error.name === 'TypeError');
}
