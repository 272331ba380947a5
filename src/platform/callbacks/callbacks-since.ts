const dayMs = 24 * 60 * 60 * 1000;

/**
 * Since when there may be callbacks about what was created at this instant: those of earlier months need not be looked
 * for. A day earlier, because a clock may be set back.
 */
export const callbacksSince = (createdAt: Date): Date => new Date(createdAt.getTime() - dayMs);
