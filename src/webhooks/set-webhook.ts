import type { EntityManager } from '@mikro-orm/postgresql';
import type { Place, Sealer } from '../encryption/sealer.ts';
import { recordEvent } from '../events/record-event.ts';
import type { Caller } from '../identity/caller.ts';
import { lockPartner } from '../partners/find-partner.ts';
import { rotationOverlapHours, type WebhookEvent } from '../partners/partner.ts';
import { newWebhookSecret } from '../partners/partner-secrets.ts';
import { refuse } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { textArray } from '../shared/postgres.ts';
import { requireTarget, type TargetRules } from './webhook-target.ts';

interface WebhookChange {
  caller: Pick<Caller, 'userId'> | null;
  requestId: string | null;
  partnerId: string;
}

interface EndpointRow {
  id: string;
  url: string;
  events: WebhookEvent[];
  secret_sealed: string;
  previous_secret_sealed: string | null;
  previous_live: boolean;
}

export interface WebhookEndpoint {
  url: string;
  events: WebhookEvent[];
  /** The current secret, and for 24 hours after a rotation the one before. */
  secrets: string[];
}

const place = (row: string, column: 'secret_sealed' | 'previous_secret_sealed'): Place => ({
  table: 'webhook_endpoints',
  column,
  row,
});

const findRow = async (em: EntityManager, partnerId: string): Promise<EndpointRow | undefined> => {
  const [row] = await em.execute<EndpointRow[]>(
    `select id, url, events, secret_sealed, previous_secret_sealed,
       coalesce(previous_secret_until > now(), false) as previous_live from webhook_endpoints where partner_id = ?`,
    [partnerId],
  );
  return row;
};

/** Where a partner's webhooks go and what signs them, or null when it wants none. */
export async function findEndpoint(
  em: EntityManager,
  sealer: Sealer,
  partnerId: string,
): Promise<WebhookEndpoint | null> {
  const row = await findRow(em, partnerId);
  if (row === undefined) return null;
  const { id, url, events, previous_secret_sealed: previous } = row;
  const secrets = [await sealer.open(place(id, 'secret_sealed'), row.secret_sealed)];
  if (previous !== null && row.previous_live)
    secrets.push(await sealer.open(place(id, 'previous_secret_sealed'), previous));
  return { url, events, secrets };
}

/**
 * Says where a partner's webhooks go, and which. Makes (or takes) and answers the secret when there was no endpoint yet. Refuses
 * a target that is not https or leads to a private address (docs/contract.md 8).
 */
export async function setWebhook(
  em: EntityManager,
  { sealer, rules }: { sealer: Sealer; rules: TargetRules },
  input: WebhookChange & { url: string; events: readonly WebhookEvent[]; secret?: string },
): Promise<{ url: string; events: WebhookEvent[]; secret: string | null }> {
  await requireTarget(input.url, rules);
  const { partnerId, url } = input;
  const events = [...new Set(input.events)];
  return em.transactional(async (tx) => {
    await lockPartner(tx, partnerId);
    const existing = await findRow(tx, partnerId);
    const secret = existing === undefined ? (input.secret ?? newWebhookSecret()) : null;
    if (secret === null) {
      await tx.execute(
        'update webhook_endpoints set url = ?, events = ?::text[], updated_at = now() where partner_id = ?',
        [url, textArray(events), partnerId],
      );
    } else {
      const id = newId();
      await tx.execute(
        'insert into webhook_endpoints (id, partner_id, url, events, secret_sealed) values (?, ?, ?, ?::text[], ?)',
        [id, partnerId, url, textArray(events), await sealer.seal(place(id, 'secret_sealed'), secret)],
      );
    }
    await recordChange(tx, input, { events, made_secret: secret !== null });
    return { url, events, secret };
  });
}

/** A new webhook secret; the old one signs beside it for 24 hours. Refuses with NOT_FOUND when there is no endpoint. */
export function rotateWebhookSecret(em: EntityManager, sealer: Sealer, input: WebhookChange): Promise<string> {
  return em.transactional(async (tx) => {
    await lockPartner(tx, input.partnerId);
    const row = await findRow(tx, input.partnerId);
    if (row === undefined) refuse('NOT_FOUND', 'the partner has no webhook');
    const old = await sealer.open(place(row.id, 'secret_sealed'), row.secret_sealed);
    const secret = newWebhookSecret();
    await tx.execute(
      `update webhook_endpoints set secret_sealed = ?, previous_secret_sealed = ?,
         previous_secret_until = now() + make_interval(hours => ?), updated_at = now() where id = ?`,
      [
        await sealer.seal(place(row.id, 'secret_sealed'), secret),
        await sealer.seal(place(row.id, 'previous_secret_sealed'), old),
        rotationOverlapHours,
        row.id,
      ],
    );
    await recordChange(tx, input, { rotated_secret: true });
    return secret;
  });
}

function recordChange(tx: EntityManager, { caller, requestId, partnerId }: WebhookChange, data: object): Promise<void> {
  return recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    impact: 'HIGH',
    resourceType: 'partner_webhook',
    resourceId: partnerId,
    actorId: caller?.userId ?? null,
    requestId,
    data,
  });
}
