import { setTimeout as sleep } from 'node:timers/promises';
import { type DeliveryWorkflows, replayedPerSecond } from '../../partners/webhooks/webhook-delivery.ts';
import type { Hints } from './hints.ts';
import type { Temporal } from './temporal.ts';

const beatMs = 1000;
/** Maximum unfinished calls; each may have thousands of deliveries. */
const mostCalls = 20;

export function createDeliveryWorkflows(temporal: Temporal, hints: Hints): DeliveryWorkflows {
  const runOf = (deliveryId: string) => ({
    workflow: 'webhookDelivery' as const,
    subject: deliveryId,
    input: { deliveryId },
  });
  const hasten = (deliveryId: string) => temporal.signalWithStart(runOf(deliveryId), 'redeliveryAsked');
  /** The remaining deliveries of each call, in round-robin order. */
  let line: Iterator<string>[] = [];
  let isBeating = false;
  const take = (most: number): string[] => {
    const taken: string[] = [];
    for (let call = line.shift(); call !== undefined; call = taken.length < most ? line.shift() : undefined) {
      const { value, done } = call.next();
      if (done) continue;
      taken.push(value);
      line.push(call);
    }
    return taken;
  };
  async function beat(): Promise<void> {
    for (isBeating = true; line.length > 0; ) {
      const over = sleep(beatMs, undefined, { ref: false });
      const part = take(replayedPerSecond);
      // If all fail, Temporal is down, and the sweep continues when it is back.
      const sent = await Promise.all(part.map((deliveryId) => hints.send(() => hasten(deliveryId))));
      if (!sent.includes(true)) line = [];
      if (line.length > 0) await over;
    }
    isBeating = false;
  }
  return {
    startWebhookDelivery: (deliveryId) => temporal.startOnce(runOf(deliveryId)),
    hastenWebhookDelivery: hasten,
    hastenWebhookDeliveries(deliveryIds, { inMs = 0 } = {}) {
      // The sweep handles deliveries that do not fit here or are lost with this process.
      const begin = () => {
        if (line.length >= mostCalls) return;
        line.push([...deliveryIds].values());
        if (!isBeating) void beat();
      };
      if (inMs > 0) void sleep(inMs, undefined, { ref: false }).then(begin);
      else begin();
    },
  };
}
