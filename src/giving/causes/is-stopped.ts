import type { Cause } from './cause.entity.ts';

/** Returns whether the platform has stopped the cause, so that only the platform may change its status. */
export const isStopped = ({ stopped_from: from }: Pick<Cause, 'stopped_from'>): boolean => (from ?? null) !== null;
