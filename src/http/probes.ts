import Router from '@koa/router';
import type { Metrics } from '../metrics/metrics.ts';
import { budgets } from '../shared/budgets.ts';

/** A dependency that has not answered after this long counts as away. */
const probeTimeoutMs = budgets.reach.probe;

async function probe(check: () => Promise<void>): Promise<string> {
  const timer = Promise.withResolvers<never>();
  const handle = setTimeout(() => timer.reject(new Error('timeout')), probeTimeoutMs);
  try {
    await Promise.race([check(), timer.promise]);
    return 'ok';
  } catch {
    return 'away';
  } finally {
    clearTimeout(handle);
  }
}

/**
 * `/healthz` (the process is up), `/readyz` (its dependencies answer, each by name) and, where metrics are given,
 * `/metrics` (Prometheus).
 */
export function probes(readiness: Readonly<Record<string, () => Promise<void>>>, metrics: Metrics | null): Router {
  const router = new Router();
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    const names = Object.keys(readiness);
    const states = await Promise.all(Object.values(readiness).map(probe));
    const ready = states.every((state) => state === 'ok');
    ctx.status = ready ? 200 : 503;
    if (!ready) ctx.set('Retry-After', '2');
    const checks = Object.fromEntries(names.map((name, index) => [name, states[index]]));
    ctx.body = { status: ready ? 'ok' : 'not ready', checks };
  });
  if (metrics !== null) {
    router.get('/metrics', async (ctx) => {
      ctx.type = metrics.registry.contentType;
      ctx.body = await metrics.registry.metrics();
    });
  }
  return router;
}
