import Router from '@koa/router';
import type { Logger } from 'pino';
import { budgets } from '../../shared/budgets.ts';
import { collectTogether, gauge, type Metrics } from '../metrics/metrics.ts';

/** `ok`, `away`, or the problem. */
type State = string;
type Checks = Readonly<Record<string, () => Promise<void>>>;

/** A dependency that answers but is not fully working: `/readyz` shows the message. */
export class Lacking extends Error {}

/** Dependencies that are shown and measured, but do not make a process unready. */
const shownOnly: ReadonlySet<string> = new Set(['temporal', 'storage']);

/** A dependency that has not answered after this long counts as down. */
const probeTimeoutMs = budgets.reach.probe;

async function probe(check: () => Promise<void>): Promise<{ state: State; error?: unknown }> {
  const timer = Promise.withResolvers<never>();
  const handle = setTimeout(() => timer.reject(new Error('timeout')), probeTimeoutMs);
  try {
    await Promise.race([check(), timer.promise]);
    return { state: 'ok' };
  } catch (error) {
    return { state: error instanceof Lacking ? error.message : 'away', error };
  } finally {
    clearTimeout(handle);
  }
}

/** How long the dependencies' answers are cached. */
const keptMs = 1_000;

/**
 * Probes all dependencies; returns the state of each by name. Logs once when one goes down, with the reason, and once
 * when it is back.
 */
function createProbing(readiness: Checks, log: Logger | undefined): () => Promise<Record<string, State>> {
  let kept: { at: number; states: Promise<Record<string, State>> } | undefined;
  const away = new Set<string>();
  const askOne = async ([dependency, check]: [string, () => Promise<void>]) => {
    const { state, error } = await probe(check);
    if (state === 'ok') {
      if (away.delete(dependency)) log?.info({ dependency }, 'a dependency answers again');
    } else if (!away.has(dependency)) {
      away.add(dependency);
      log?.warn({ dependency, err: error }, 'a dependency does not answer');
    }
    return [dependency, state] as const;
  };
  const ask = async () => Object.fromEntries(await Promise.all(Object.entries(readiness).map(askOne)));
  return () => {
    const now = performance.now();
    if (kept === undefined || now - kept.at >= keptMs) kept = { at: now, states: ask() };
    return kept.states;
  };
}

/**
 * Serves `/healthz` (the process is up), `/readyz` (it can serve and reaches its database; the body names every
 * dependency) and, where metrics are given, `/metrics` (Prometheus), with `amanah_dependency_up`.
 */
export function probes(readiness: Checks, metrics: Metrics | null, log?: Logger): Router {
  const router = new Router();
  const states = createProbing(readiness, log);
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    // A stopping process reports itself unready at once.
    const checks: Record<string, State> = { ...(await states()), ...('serving' in readiness && { serving: 'away' }) };
    const ready = Object.entries(checks).every(([name, state]) => state === 'ok' || shownOnly.has(name));
    ctx.status = ready ? 200 : 503;
    if (!ready) ctx.set('Retry-After', '2');
    ctx.body = { status: ready ? 'ok' : 'not ready', checks };
  });
  if (metrics !== null) {
    const up = gauge(metrics, 'amanah_dependency_up', 'Whether this process can reach a dependency.', ['dependency']);
    collectTogether([up], async () => {
      for (const [dependency, state] of Object.entries(await states())) up.set({ dependency }, state === 'ok' ? 1 : 0);
    });
    router.get('/metrics', async (ctx) => {
      ctx.type = metrics.registry.contentType;
      ctx.body = await metrics.registry.metrics();
    });
  }
  return router;
}
