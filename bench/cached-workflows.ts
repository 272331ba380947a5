import { sum } from './figures.ts';

/** Returns the number of cached workflows of the worker whose SDK serves its metrics on this port. */
export async function countCachedWorkflows(metricsPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return sum([...text.matchAll(/^temporal_sticky_cache_size(?:\{[^}]*\})? (\d+)/gm)].map(([, size]) => Number(size)));
}
