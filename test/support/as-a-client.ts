import type { HttpAnswer } from './http.ts';

/** Asks again, as clients do, when a machine out of breath or the rate limit says so, after the time it names. */
export async function asAClient(ask: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503 && answer.status !== 429) return answer;
    await new Promise((resolve) => setTimeout(resolve, Number(answer.headers.get('retry-after')) * 1000));
  }
}
