import { sum } from './figures.ts';

/** How many workflows the worker whose SDK has its metrics on this port keeps in memory. */
export async function countCachedWorkflows(metricsPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return sum([...text.matchAll(/^temporal_sticky_cache_size(?:\{[^}]*\})? (\d+)/gm)].map(([, size]) => Number(size)));
}
