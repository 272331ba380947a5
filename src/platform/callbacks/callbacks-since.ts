const dayMs = 24 * 60 * 60 * 1000;

/**
 * The earliest time of callbacks about something created at this instant, so that earlier months need not be searched.
 * It is a day earlier, as a clock may be set back.
 */
export const callbacksSince = (createdAt: Date): Date => new Date(createdAt.getTime() - dayMs);
