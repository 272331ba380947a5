/**
 * The life cycle of one kind of row: its initial statuses and allowed transitions. A status without transitions is
 * final. The database enforces the same laws (`status-laws.sql`), and a test compares them.
 */
export interface StatusLaw<Status extends string = string> {
  readonly initial: readonly Status[];
  readonly transitions: Readonly<Record<Status, readonly Status[]>>;
  /** Every status, in the order of the transitions. */
  readonly statuses: readonly [Status, ...Status[]];
}

export type StatusOf<Law> = Law extends StatusLaw<infer Status> ? Status : never;

/** Builds the law of a kind; the types allow only its statuses. */
export function statusLaw<Status extends string>(law: {
  initial: readonly NoInfer<Status>[];
  transitions: Readonly<Record<Status, readonly NoInfer<Status>[]>>;
}): StatusLaw<Status> {
  return { ...law, statuses: Object.keys(law.transitions) as [Status, ...Status[]] };
}

/** Lets every status follow every other, for statuses that people set. */
export function anyToAny<const Status extends string>(statuses: readonly Status[]): Record<Status, Status[]> {
  const others = (status: Status) => statuses.filter((other) => other !== status);
  return Object.fromEntries(statuses.map((status) => [status, others(status)])) as Record<Status, Status[]>;
}

/** Whether a row may move from `from` to `to`. */
export const canMove = <Status extends string>({ transitions }: StatusLaw<Status>, from: Status, to: Status): boolean =>
  transitions[from].includes(to);

/** Whether no status follows this one. */
export const isFinal = <Status extends string>({ transitions }: StatusLaw<Status>, status: Status): boolean =>
  transitions[status].length === 0;
