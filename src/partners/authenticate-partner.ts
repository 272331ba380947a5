import type { EntityManager } from '@mikro-orm/postgresql';
import { executePrepared } from '../platform/database/prepared-statements.ts';
import type { Sealer } from '../platform/encryption/sealer.ts';
import { sha256 } from '../shared/digest.ts';
import { refuse } from '../shared/errors.ts';
import type { OrganizationStatus } from '../shared/organization.ts';
import type { PartnerPermission, PartnerStatus } from './partner.ts';
import { newSigningSecret, signingSecretPlace } from './partner-secrets.ts';
import {
  isSignatureOf,
  isSignatureOfRequest,
  type SignedRequest,
  secondSignatureTime,
  signatureToleranceSeconds,
} from './signature.ts';

interface KeyRow {
  id: string;
  partner_id: string;
  organization_id: string;
  organization_status: OrganizationStatus;
  status: PartnerStatus;
  permissions: PartnerPermission[];
  signing_secret_sealed: string;
  require_signature_v2: boolean;
  usable: boolean;
  /** Seconds since 1970 by the database's clock; this process's clock may be wrong. */
  now: string;
}

export interface AuthenticatedPartner {
  keyId: string;
  partnerId: string;
  organizationId: string;
  organizationStatus: OrganizationStatus;
  status: PartnerStatus;
  permissions: ReadonlySet<PartnerPermission>;
}

export interface PartnerProof {
  /** The bearer token; empty if not sent. */
  apiKey: string;
  /** The header `x-partner-signature`; empty if not sent. */
  signature: string;
  /** The header `x-partner-signature-v2`; an empty header counts as sent and wrong. */
  signatureV2: string | undefined;
  /** Whether the route requires the second signature. */
  needsV2: boolean;
  request: SignedRequest;
}

/** Why a request with a correct body signature is refused for its second signature. */
function complainOfWhole({ signatureV2, needsV2, request: { method, target } }: PartnerProof, now: number): string {
  if (signatureV2 === undefined) {
    return `The ${needsV2 ? 'route' : 'API key'} demands x-partner-signature-v2, the signature over the whole request`;
  }
  const at = secondSignatureTime(signatureV2);
  return at !== null && Math.abs(now - at) > signatureToleranceSeconds
    ? `The time in x-partner-signature-v2 is ${at}, more than five minutes off: the server's is ${now}`
    : `The x-partner-signature is right, but x-partner-signature-v2 does not match \`${method} ${target}\` at its time, with this x-idempotency-key and body`;
}

/** Maximum unsealed signing secrets cached in memory; the oldest is dropped first. */
const mostOpenSecrets = 1000;
const decoyKeyId = '00000000-0000-4000-8000-000000000000';

/**
 * Authenticates a partner by an API key and a signature over the bytes received. The signature over the whole request
 * must be right if sent, and must be sent if the key or the route demands it. An unknown key costs the same work as a
 * known one (a decoy's secret is unsealed and its HMAC compared) and gets the same refusal as a wrong signature, as
 * does a key that no longer works.
 */
export function createPartnerAuthentication(sealer: Sealer) {
  const openSecrets = new Map<string, string>();
  let decoy: Promise<KeyRow> | undefined;

  async function buildDecoy(): Promise<KeyRow> {
    const signing_secret_sealed = await sealer.seal(signingSecretPlace(decoyKeyId), newSigningSecret());
    const nobody = {
      partner_id: '',
      organization_id: '',
      organization_status: 'suspended',
      status: 'suspended',
      permissions: [],
      require_signature_v2: false,
      usable: false,
      now: '0',
    } as const;
    return { ...nobody, id: decoyKeyId, permissions: [], signing_secret_sealed };
  }

  async function openSecret({ id, signing_secret_sealed: sealed }: KeyRow): Promise<string> {
    const known = openSecrets.get(sealed);
    if (known !== undefined) return known;
    const secret = await sealer.open(signingSecretPlace(id), sealed);
    const [oldest] = openSecrets.keys();
    if (openSecrets.size >= mostOpenSecrets && oldest !== undefined) openSecrets.delete(oldest);
    openSecrets.set(sealed, secret);
    return secret;
  }

  return async (em: EntityManager, proof: PartnerProof): Promise<AuthenticatedPartner> => {
    const [found] = await executePrepared<KeyRow>(
      em,
      `select k.id, k.partner_id, p.organization_id, o.status as organization_status, p.status, k.permissions, k.signing_secret_sealed,
         k.require_signature_v2,
         floor(extract(epoch from clock_timestamp()))::text as now,
         k.revoked_at is null and (k.valid_until is null or k.valid_until > now()) as usable
       from partner_keys k join partners p on p.id = k.partner_id
         join organizations o on o.id = p.organization_id
       where k.key_hash = ?`,
      [sha256(proof.apiKey)],
    );
    decoy ??= buildDecoy();
    const row = found ?? (await decoy);
    const secret = await openSecret(row);
    const { signature, signatureV2, needsV2, request } = proof;
    const proven = isSignatureOf(secret, request.body, signature);
    const provenWhole =
      signatureV2 === undefined
        ? !(needsV2 || row.require_signature_v2)
        : isSignatureOfRequest(secret, request, signatureV2, Number(row.now));
    if (!proven || !row.usable) {
      refuse(
        'AUTH_INVALID_CREDENTIALS',
        'The API key is unknown or no longer valid, or x-partner-signature does not match this body',
      );
    }
    // Only callers who have proven the key and its secret get a more specific answer.
    if (!provenWhole) refuse('AUTH_INVALID_CREDENTIALS', complainOfWhole(proof, Number(row.now)));
    const { id: keyId, partner_id: partnerId, organization_id: organizationId, status } = row;
    const { organization_status: organizationStatus } = row;
    return { keyId, partnerId, organizationId, organizationStatus, status, permissions: new Set(row.permissions) };
  };
}
