import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import { lockPartner } from '../partners/find-partner.ts';
import type { WebhookEvent } from '../partners/partner.ts';
import { refuse } from '../shared/errors.ts';
import { insertEndpoint } from './create-endpoint.ts';
import type { EndpointChange } from './record-endpoint.ts';
import { changeEndpoint, rotateSecret } from './update-endpoint.ts';
import { WebhookEndpoint } from './webhook-endpoint.entity.ts';
import { requireTarget, type TargetRules } from './webhook-target.ts';

/** The endpoint that operators set, of a partner that is locked, or null. */
const findOperators = (tx: EntityManager, partnerId: string): Promise<WebhookEndpoint | null> =>
  tx.findOne(WebhookEndpoint, { partner_id: partnerId, set_by_operator: true }, { refresh: true });

/**
 * Says where an operator has a partner told, and of what: one of its endpoints, which is enabled by this. Makes (or
 * takes) and answers the secret when it is not there yet. Refuses a target that is not https or leads to a private
 * address (docs/contract.md 8), and an eleventh endpoint.
 */
export async function setWebhook(
  em: EntityManager,
  { sealer, rules }: { sealer: Sealer; rules: TargetRules },
  input: EndpointChange & { url: string; events: readonly WebhookEvent[]; secret?: string },
): Promise<{ url: string; events: WebhookEvent[]; secret: string | null }> {
  await requireTarget(input.url, rules);
  const { partnerId, url } = input;
  return em.transactional(async (tx) => {
    await lockPartner(tx, partnerId);
    const known = await findOperators(tx, partnerId);
    const change = { url, events: [...input.events], status: 'enabled' as const };
    if (known !== null) {
      const { events } = await changeEndpoint(tx, known, input, change);
      return { url, events, secret: null };
    }
    const made = await insertEndpoint(tx, sealer, { ...input, ...change, setByOperator: true });
    return { url, events: made.endpoint.events, secret: made.secret };
  });
}

/** A new secret of the endpoint that operators set, as `rotateEndpointSecret`. Refuses with NOT_FOUND when there is none. */
export function rotateWebhookSecret(em: EntityManager, sealer: Sealer, input: EndpointChange): Promise<string> {
  return em.transactional(async (tx) => {
    await lockPartner(tx, input.partnerId);
    const known = await findOperators(tx, input.partnerId);
    if (known === null) refuse('NOT_FOUND', 'the partner has no webhook');
    return (await rotateSecret(tx, sealer, known, input)).secret;
  });
}
