/** A job of the sandbox's scheduler. */
export interface Job {
  run(now: number): void;
  /** When the job is next due, in epoch milliseconds; null if nothing waits. */
  nextAt(): number | null;
}

export interface Scheduler {
  /** Runs due jobs as soon as the current request has been answered. */
  wake(): void;
  stop(): void;
}

const longestPauseMs = 1_000;

/** Runs the jobs whenever one is due. */
export function startScheduler(jobs: Job[]): Scheduler {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const plan = (pauseMs: number) => {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(turn, pauseMs);
  };
  const turn = () => {
    for (const job of jobs) job.run(Date.now());
    const due = jobs.map((job) => job.nextAt()).filter((at) => at !== null);
    plan(Math.min(longestPauseMs, Math.max(1, Math.min(...due) - Date.now())));
  };
  plan(0);
  return {
    wake: () => plan(0),
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
