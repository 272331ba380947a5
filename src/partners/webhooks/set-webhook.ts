import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { refuse } from '../../shared/errors.ts';
import { lockPartner } from '../find-partner.ts';
import type { AskedEvent } from '../partner.ts';
import { WebhookEndpoint } from '../webhook-endpoint.entity.ts';
import { insertEndpoint } from './create-endpoint.ts';
import type { EndpointChange } from './record-endpoint.ts';
import { changeEndpoint, rotateSecret } from './update-endpoint.ts';
import { requireTarget, type TargetRules } from './webhook-target.ts';

/** The partner's endpoint set by operators, or null. The caller has locked the partner. */
const findOperators = (tx: EntityManager, partnerId: string): Promise<WebhookEndpoint | null> =>
  tx.findOne(WebhookEndpoint, { partner_id: partnerId, set_by_operator: true }, { refresh: true });

/**
 * Sets URL and events of the partner's endpoint that operators manage, and enables it. A new endpoint gets the given
 * secret, or a generated one, which is returned; otherwise returns null. Throws REQUEST_INVALID for a target that is
 * not https or leads to a private address (docs/contract.md 8), and for an eleventh endpoint.
 */
export async function setWebhook(
  em: EntityManager,
  { sealer, rules }: { sealer: Sealer; rules: TargetRules },
  input: EndpointChange & { url: string; events: readonly AskedEvent[]; secret?: string },
): Promise<{ url: string; events: AskedEvent[]; secret: string | null }> {
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

/** Rotates the secret of the operators' endpoint as `rotateEndpointSecret` does. Throws NOT_FOUND if there is none. */
export function rotateWebhookSecret(em: EntityManager, sealer: Sealer, input: EndpointChange): Promise<string> {
  return em.transactional(async (tx) => {
    await lockPartner(tx, input.partnerId);
    const known = await findOperators(tx, input.partnerId);
    if (known === null) refuse('NOT_FOUND', 'The partner has no webhook');
    return (await rotateSecret(tx, sealer, known, input)).secret;
  });
}
