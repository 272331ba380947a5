import { partnerStory } from '../../src/partners/reference-story.ts';
import { operationId } from '../../src/platform/http/operation-id.ts';
import { routeGroups } from '../../src/wiring/app.ts';
import { webhookDocuments } from '../../src/wiring/webhook-documents.ts';

const { operations, webhooks } = partnerStory;
const routes = routeGroups.flatMap(({ routes: all }) => all).filter(({ access }) => access.kind === 'partner');

/** Every object within a value, including the value. */
function objectsIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value as Record<string, unknown>, ...Object.values(value).flatMap(objectsIn)];
}

describe('The examples of the partners’ reference', () => {
  it('Examples exist for every operation and every webhook of the reference, and for nothing else', () => {
    expect(Object.keys(operations).toSorted()).toEqual(routes.map(operationId).toSorted());
    expect(Object.keys(webhooks).toSorted()).toEqual(webhookDocuments.map(({ type }) => type).toSorted());
  });

  it('Examples have exactly the fields that the schemas define', () => {
    for (const route of routes) {
      const { body, answer } = operations[operationId(route)] ?? {};
      const shape = route.answers[200];
      const whole = { data: answer, request_id: partnerStory.requestId };
      if (typeof shape === 'object') expect(shape.parse(whole)).toEqual(whole);
      expect(route.body === undefined).toBe(body === undefined);
      expect(route.body?.safeParse(body).error).toBeUndefined();
    }
    for (const { type, body } of webhookDocuments) expect(body.parse(webhooks[type])).toEqual(webhooks[type]);
  });

  it('Examples never call a pending resource final, or a final one pending', () => {
    const told = objectsIn([operations, webhooks]).filter((each) => 'is_final' in each);
    expect(told.length).toBeGreaterThan(10);
    const open = ['pending', 'needs_approval', 'processing'];
    for (const { status, is_final, finalized_at } of told) {
      expect([open.includes(String(status)), finalized_at === null]).toEqual([!is_final, !is_final]);
    }
  });

  it('Examples follow one payment and one payout from the quote to the statement', () => {
    const at = (name: string) => operations[name]?.answer as Record<string, unknown>;
    const idIn = (type: string) => (webhooks[type] as { data: { id: string } }).data.id;
    const lines = at('getSettlement').lines as { resource_id: string }[];
    const { amount, fee, net_amount } = at('createQuote');
    const [payment, payout] = [at('createPayment'), at('createPayout')];
    expect(payment).toMatchObject({ amount, fee, net_amount });
    expect([payment.id, payment.id, payment.id]).toEqual([
      at('getPayment').id,
      idIn('payment.succeeded'),
      at('getWebhookDelivery').resource_id,
    ]);
    expect([payout.id, payout.id]).toEqual([at('getPayout').id, idIn('payout.succeeded')]);
    expect(lines.map(({ resource_id }) => resource_id)).toEqual([payment.id, payment.id, payout.id, payout.id]);
    const { currency: _, ...balance } = at('getBalance');
    expect(at('getSettlement').closing).toEqual(balance);
  });
});
