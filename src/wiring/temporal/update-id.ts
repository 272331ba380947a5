import { randomUUID } from 'node:crypto';

/**
 * The id of an update that waits for what a request opens: one per request, the same however often its call is retried.
 * The server remembers an update's outcome after its workflow has ended; with one id for all requests, a key whose first
 * request was refused would get that refusal for ever, and a number of the database's comes again after a restore.
 */
export const updateIdOf = (name: string, resourceId: string): string => `${name}-${resourceId}-${randomUUID()}`;
