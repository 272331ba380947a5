import { Readable } from 'node:stream';
import type { EntityManager } from '@mikro-orm/postgresql';
import { z } from 'zod';
import type { Sealer } from '../platform/encryption/sealer.ts';
import { needsWholeSignature } from '../platform/http/access.ts';
import { type Answer, answer } from '../platform/http/answer.ts';
import { bearerOf } from '../platform/http/bearer.ts';
import { presentError } from '../platform/http/errors.ts';
import type { PartnerCaller } from '../platform/http/route-group.ts';
import type { Doors, PartnerRequestContext } from '../platform/http/serve-route.ts';
import { arriveUnderKey, hashKey } from '../platform/openings/idempotency-keys.ts';
import { must } from '../shared/assert.ts';
import { canonicalJson } from '../shared/canonical-json.ts';
import { DomainError, errorStatuses, isDomainError, refuse, refuseField } from '../shared/errors.ts';
import type { KeyedRequest } from '../shared/opening.ts';
import { type AuthenticatedPartner, createPartnerAuthentication } from './authenticate-partner.ts';
import { complainOfAccount, complainOfOrganization } from './inactive.ts';
import { fingerprintOfRequest, type KeptAnswer, keepSealed, openUnderKey } from './keep-sealed-answer.ts';
import type { PartnerPermission } from './partner.ts';
import { keepRefusalAtDoor } from './refuse-at-door.ts';
import { refuseMalformedProof } from './refuse-malformed-proof.ts';

/** The running request under one idempotency key of one partner in this process. */
interface Running {
  fingerprint: string;
  outcome: Promise<Answer>;
}

/**
 * Handles requests to `/v1/partners`. Checks in this order: headers, key and signatures over the bytes received, reuse
 * of the signature, account active, permission, idempotency key (absent, malformed, replay or reuse); if nothing was
 * created under the key yet, the status of the partner's organization; then the route validates the request and handles
 * it. Every success becomes `{ data, request_id }`; the first success or PROVIDER_REFUSED under a key is stored and
 * replayed.
 */
export function createPartnerDoor(sealer: Sealer): NonNullable<Doors['partner']> {
  const authenticate = createPartnerAuthentication(sealer);
  const running = new Map<string, Running>();

  return async (request, proceed) => {
    const { ctx, em, requestId } = request;
    const body = await request.bytes();
    const { authorization } = ctx.headers;
    const [signature, signatureV2] = ['x-partner-signature', 'x-partner-signature-v2'].map((name) =>
      ctx.headers[name]?.toString(),
    );
    refuseMalformedProof({ authorization, signature, signatureV2 });
    const needsV2 = needsWholeSignature(request.access, ctx.method);
    const partner = await authenticate(em, {
      apiKey: bearerOf(authorization ?? ''),
      signature: signature ?? '',
      signatureV2,
      needsV2,
      request: { method: ctx.method, target: ctx.originalUrl, idempotencyKey: ctx.get('x-idempotency-key'), body },
    });
    ctx.state.partnerId = partner.partnerId;
    if (needsV2 && !request.idempotent) await takeSignature(em, must(signatureV2, 'the route requires a V2 signature'));
    const refusal = refusalOf(partner, request);
    if (refusal !== null) {
      await keepRefusal(request, partner.partnerId, refusal);
      throw refusal;
    }
    const { status: _, organizationStatus: __, ...known } = partner;
    if (!request.idempotent) {
      const made = await proceed({ ...known, idempotency: null });
      // A streamed body already has its envelope.
      return made.body instanceof Readable ? made : envelope(made, requestId);
    }

    const key = readKey(request);
    const keyHash = hashKey(key);
    // Unparseable bodies are compared by their bytes; the route refuses them later.
    const meaning = await request.readBody().then(canonicalJson, () => body);
    // A path with or without a trailing slash is the same route.
    const fingerprint = fingerprintOfRequest(ctx.method, ctx.path.replace(/\/$/, ''), meaning);
    const place = `${partner.partnerId}/${keyHash}`;
    for (let twin = running.get(place); twin !== undefined; twin = running.get(place)) {
      if (twin.fingerprint === fingerprint) return asReplay(await twin.outcome);
      // Wait for another request with the same key: if it is refused, the key is free again.
      await twin.outcome.catch(() => undefined);
    }
    const outcome = answerOnce(
      sealer,
      request,
      { ...known, idempotency: { key, keyHash, fingerprint } },
      { closed: complainOfOrganization(partner), proceed },
    );
    running.set(place, { fingerprint, outcome });
    try {
      return await outcome;
    } finally {
      running.delete(place);
    }
  };
}

/** Why an authenticated partner may not use the route; null if it may. */
function refusalOf(
  partner: AuthenticatedPartner,
  { access }: Pick<PartnerRequestContext, 'access'>,
): DomainError | null {
  const permission = access.permission as PartnerPermission;
  const inactive = complainOfAccount(partner);
  if (inactive !== null || partner.permissions.has(permission)) return inactive;
  return new DomainError('AUTH_PERMISSION_DENIED', `The API key lacks the permission ${permission}`);
}

/**
 * Records the refusal of a request with an idempotency key, so that nothing is created under the key later. Returns
 * whether something was created before.
 */
async function keepRefusal(request: PartnerRequestContext, partnerId: string, refusal: DomainError): Promise<boolean> {
  const key = String(request.ctx.headers['x-idempotency-key'] ?? '');
  const permission = request.access.permission as PartnerPermission;
  if (!request.idempotent || !isKey(key)) return false;
  return keepRefusalAtDoor(request.em, { partnerId, permission, key }, refusal);
}

const isKey = (key: string): boolean => key.length >= 8 && key.length <= 128;

function readKey({ ctx }: PartnerRequestContext): string {
  const header = ctx.headers['x-idempotency-key'];
  if (header === undefined) refuse('REQUEST_IDEMPOTENCY_KEY_REQUIRED', 'The header X-Idempotency-Key is required');
  const key = String(header);
  if (!isKey(key)) refuseField('X-Idempotency-Key', 'must have 8 to 128 characters');
  return key;
}

type IdempotentCaller = Omit<PartnerCaller, 'idempotency'> & {
  idempotency: Omit<KeyedRequest, 'resourceId' | 'stamp'>;
};

/**
 * Answers a request with its key once. `closed`: why nothing new may be created; accepted requests still continue, and
 * their keys still return responses.
 */
async function answerOnce(
  sealer: Sealer,
  request: PartnerRequestContext,
  caller: IdempotentCaller,
  { closed, proceed }: { closed: DomainError | null; proceed: (caller: PartnerCaller) => Promise<Answer> },
): Promise<Answer> {
  const { em, ctx, requestId } = request;
  const claim = { partnerId: caller.partnerId, ...caller.idempotency };
  const { stamp, made: earlier } = await arriveUnderKey(em, claim);
  const { resourceId, answer: first } = await openUnderKey(sealer, claim, earlier);
  if (first !== null) return replay(first);
  if (closed !== null && resourceId === null && !(await keepRefusal(request, caller.partnerId, closed))) throw closed;
  let made: KeptAnswer & { beneficiaryOf?: string | null };
  try {
    const idempotency = { ...caller.idempotency, resourceId, stamp };
    const answered = await proceed({ ...caller, idempotency });
    const { status, body } = envelope(answered, requestId);
    made = { status, body, beneficiaryOf: orderShownIn(answered.body) };
  } catch (error) {
    if (!isDomainError(error) || error.code !== 'PROVIDER_REFUSED') throw error;
    const refusal = new DomainError(error.code, error.message, { details: error.details });
    const body = Buffer.from(JSON.stringify(presentError(refusal, ctx.path, requestId)));
    made = { status: errorStatuses[error.code], body };
  }
  const kept = await keepSealed(em.fork(), sealer, claim, made);
  return kept.first ? answer(kept.status, kept.body) : replay(kept);
}

/** The id of the order whose beneficiary or metadata this response shows, or null. */
function orderShownIn(body: unknown): string | null {
  const shown = shownOrder.safeParse(body);
  return shown.success ? shown.data.id : null;
}
const shownOrder = z.union([
  z.object({ id: z.uuid(), bank_account_number: z.string().nullable() }),
  z.object({ id: z.uuid(), metadata: z.looseObject({}) }),
]);

/** `{ data, request_id }` as bytes; the same bytes are sent and stored. */
function envelope({ status, body, headers }: Answer, requestId: string): Answer & { body: Buffer } {
  const bytes = Buffer.from(JSON.stringify({ data: body, request_id: requestId }));
  return { ...answer(status, bytes, headers), body: bytes };
}

const replay = ({ status, body }: KeptAnswer): Answer => answer(status, body, { 'Idempotency-Replayed': 'true' });

const asReplay = ({ status, body, headers }: Answer): Answer =>
  answer(status, body, { ...headers, 'Idempotency-Replayed': 'true' });

/**
 * Accepts a correct signature over a whole request once, so that a write without an idempotency key cannot be replayed.
 * Throws AUTH_INVALID_CREDENTIALS for a used signature (docs/contract.md 8).
 */
async function takeSignature(em: EntityManager, signature: string): Promise<void> {
  // A signature's digest includes its time. Case does not matter.
  const digest = signature.slice(-64).toLowerCase();
  const taken = await em.execute<unknown[]>(
    'insert into used_signatures (digest) values (?) on conflict do nothing returning 1',
    [digest],
  );
  if (taken.length > 0) return;
  refuse(
    'AUTH_INVALID_CREDENTIALS',
    'This x-partner-signature-v2 was used before: sign the request again with a later time',
  );
}
