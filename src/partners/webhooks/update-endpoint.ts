import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { type Changes, changesTo } from '../../shared/changes.ts';
import { refuse } from '../../shared/errors.ts';
import { type AskedEvent, rotationOverlapHours } from '../partner.ts';
import { newWebhookSecret } from '../partner-secrets.ts';
import type { TwinnedEndpoint } from '../present-endpoint.ts';
import type { WebhookEndpoint } from '../webhook-endpoint.entity.ts';
import {
  type EarlierSecret,
  endpointSecretPlace,
  mostEarlierSecrets,
  type WebhookEndpointStatus,
} from '../webhook-endpoint.ts';
import type { SecretEndpoint } from './create-endpoint.ts';
import { lockEndpoint, openEarlierSecrets, withTwins } from './find-endpoints.ts';
import { type EndpointChange, recordEndpoint } from './record-endpoint.ts';
import { requireTarget, type TargetRules } from './webhook-target.ts';

interface Changeable {
  url: string;
  events: AskedEvent[];
  status: WebhookEndpointStatus;
}

/**
 * Changes an endpoint's URL, events or status. Throws NOT_FOUND if the partner has no such endpoint, and
 * REQUEST_INVALID for a target that `createEndpoint` would refuse.
 */
export async function updateEndpoint(
  em: EntityManager,
  { rules }: { rules: TargetRules },
  input: EndpointChange & { endpointId: string; changes: Changes<Changeable> },
): Promise<TwinnedEndpoint> {
  const { url } = input.changes;
  if (url !== undefined) await requireTarget(url, rules);
  return em.transactional(async (tx) =>
    withTwins(tx, await changeEndpoint(tx, await lockEndpoint(tx, input), input, input.changes)),
  );
}

/**
 * Changes an endpoint and records the event, unless nothing differs. The caller has locked the partner. A new URL or
 * re-enabling resets `failing_since`.
 */
export async function changeEndpoint(
  tx: EntityManager,
  endpoint: WebhookEndpoint,
  by: EndpointChange,
  asked: Changes<Changeable>,
): Promise<WebhookEndpoint> {
  const events = asked.events === undefined ? undefined : [...new Set(asked.events)];
  const isSame = events !== undefined && String(events.toSorted()) === String(endpoint.events.toSorted());
  const changes = changesTo<Changeable>(endpoint, { ...asked, events: isSame ? undefined : events });
  if (Object.keys(changes).length === 0) return endpoint;
  const now = await readDatabaseClock(tx);
  tx.assign(endpoint, { ...changes, updated_at: now });
  if (changes.status === 'disabled') tx.assign(endpoint, { disabled_reason: 'requested', disabled_at: now });
  if (changes.status === 'enabled') tx.assign(endpoint, { disabled_reason: null, disabled_at: null });
  if (changes.status === 'enabled' || changes.url !== undefined) endpoint.failing_since = null;
  await tx.flush();
  const { url, ...told } = changes;
  await recordEndpoint(tx, by, 'RESOURCE_UPDATED', endpoint, { ...told, ...(url !== undefined && { moved: true }) });
  return endpoint;
}

/**
 * Rotates an endpoint's secret; the old one also signs for 24 hours. Throws NOT_FOUND as `updateEndpoint` does, and
 * REQUEST_INVALID while `mostEarlierSecrets` still sign: none expires early, as a receiver may have only that one.
 */
export function rotateEndpointSecret(
  em: EntityManager,
  sealer: Sealer,
  input: EndpointChange & { endpointId: string },
): Promise<SecretEndpoint> {
  return em.transactional(async (tx) =>
    rotateSecret(tx, sealer, await lockEndpoint(tx, input), { ...input, field: 'id' }),
  );
}

/** `rotateEndpointSecret` for a locked partner's endpoint; errors name `field`, if given. */
export async function rotateSecret(
  tx: EntityManager,
  sealer: Sealer,
  endpoint: WebhookEndpoint,
  by: EndpointChange & { field?: string },
): Promise<SecretEndpoint> {
  const { id } = endpoint;
  const earlier = await openEarlierSecrets(tx, sealer, endpoint);
  if (earlier.length >= mostEarlierSecrets) {
    const first = earlier.at(-1)?.until;
    refuse('REQUEST_INVALID', `${mostEarlierSecrets} earlier secrets still sign, the first of them until ${first}`, {
      ...(by.field !== undefined && { field: by.field }),
    });
  }
  const now = await readDatabaseClock(tx);
  const replaced: EarlierSecret = {
    secret: await sealer.open(endpointSecretPlace(id), endpoint.secret_sealed),
    until: new Date(now.getTime() + rotationOverlapHours * 3_600_000).toISOString(),
  };
  const secret = newWebhookSecret();
  const place = endpointSecretPlace(id, 'earlier_secrets_sealed');
  tx.assign(endpoint, {
    secret_sealed: await sealer.seal(endpointSecretPlace(id), secret),
    earlier_secrets_sealed: await sealer.seal(place, JSON.stringify([replaced, ...earlier])),
    updated_at: now,
  });
  await tx.flush();
  await recordEndpoint(tx, by, 'RESOURCE_UPDATED', endpoint, { rotated_secret: true });
  return { endpoint, secret };
}

/**
 * Deletes an endpoint with its secrets. Its pending deliveries are parked at their next attempt and cannot be sent
 * again. Throws NOT_FOUND as `updateEndpoint` does.
 */
export function deleteEndpoint(
  em: EntityManager,
  input: EndpointChange & { endpointId: string },
): Promise<WebhookEndpoint> {
  return em.transactional(async (tx) => {
    const endpoint = await lockEndpoint(tx, input);
    await tx.remove(endpoint).flush();
    await recordEndpoint(tx, input, 'RESOURCE_DELETED', endpoint);
    return endpoint;
  });
}
