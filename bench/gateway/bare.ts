import { join } from 'node:path';
import { type Part, startPart } from '../../dev/part.ts';
import { findFreePort } from '../../dev/ports.ts';
import type { WholeStack } from '../whole-stack.ts';

/** The baseline beside the product: a route and a worker, on the same Temporal and the same provider. */
export interface Bare {
  port: number;
  route: Part;
  worker: Part;
}

export async function startBare(whole: WholeStack, secretKey: string): Promise<Bare> {
  const { temporalAddress, providerUrl } = whole;
  const port = await findFreePort();
  const start = (role: 'worker' | 'route') =>
    whole.keep(
      startPart({
        ...whole.place(`bare-${role}`),
        name: `The bare ${role}`,
        script: join(import.meta.dirname, 'bare-payment.ts'),
        env: process.env,
        options: { role, port, temporalAddress, taskQueue: 'bare', providerUrl, secretKey },
        readyWithinMs: 90_000,
      }),
    );
  return { port, worker: await start('worker'), route: await start('route') };
}
