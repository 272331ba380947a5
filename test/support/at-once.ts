export type Named<T> = readonly [name: string, one: T];

/** Runs a function for all items concurrently; returns the results, or throws naming the items that failed. */
export async function atOnce<T, R>(all: readonly Named<T>[], act: (one: T) => Promise<R>): Promise<Named<R>[]> {
  const ended = await Promise.allSettled(all.map(([, one]) => act(one)));
  const failed = ended.flatMap((end, index) =>
    end.status === 'rejected' ? [`${all[index]?.[0]}: ${(end.reason as Error).stack ?? end.reason}`] : [],
  );
  if (failed.length > 0) throw new Error(failed.join('\n\n'));
  return ended.flatMap((end, index) =>
    end.status === 'fulfilled' ? [[all[index]?.[0] ?? '', end.value] as const] : [],
  );
}
