const dayMs = 24 * 60 * 60 * 1000;

/**
 * Returns how far back to search for callbacks about a row created at this time: a day more, as a clock may be set
 * back.
 */
export const callbacksSince = (createdAt: Date): Date => new Date(createdAt.getTime() - dayMs);
