import type { BuiltUser } from '../support/build.ts';
import type { BuiltTarget } from '../support/build-targets.ts';
import type { Operators } from '../support/decide.ts';
import type { BuiltPartner } from '../support/partner.ts';
import type { Stack } from '../support/stack.ts';

/** Where money is moved, and by which code. */
interface MoneyPlace {
  stack: Stack;
  superAdmin: BuiltUser;
  operators: Operators;
  /** Who else consents. */
  second: Pick<BuiltUser, 'token'>;
  person: BuiltUser;
  organization: BuiltUser;
  cause: BuiltTarget;
  partner: BuiltPartner;
}

/** Filled before each case. */
export const at = {} as MoneyPlace;

/** A way in which money moves: its preparation, then the move. */
export type MoneyPath = [name: string, prepare: () => Promise<() => Promise<unknown>>];
