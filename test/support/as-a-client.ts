import { askAgain, type HttpAnswer } from './http.ts';

/** Asks again, as clients do, when a machine out of breath or the rate limit says so, after the time it names. */
export const asAClient = (ask: () => Promise<HttpAnswer>): Promise<HttpAnswer> => askAgain(ask, { on: [503, 429] });
