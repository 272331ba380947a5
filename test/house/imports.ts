/** The wings of `src/`, from the lowest: each may import from those before it, never from one after it. */
export const wings = [
  'shared',
  'platform',
  'migrations',
  'people',
  'ledger',
  'partners',
  'money-out',
  'money-in',
  'giving',
  'circles',
  'control',
  'wiring',
] as const;

/** Arrows between modules that run up all the same: how many imports at most, which may only become fewer, and why. */
export const upward: Readonly<Record<string, { most: number; why: string }>> = {
  'people/identity -> ledger/accounts': { most: 1, why: 'nobody signs up without an account, in one transaction' },
  'money-out/withdrawals -> giving/causes': {
    most: 3,
    why: 'what is paid out of a charitable cause judges, begins and completes the cause in its own transaction',
  },
};
