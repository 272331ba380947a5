import type { BuiltUser } from '../support/build.ts';
import type { BuiltTarget } from '../support/build-targets.ts';
import type { Operators } from '../support/decide.ts';
import type { BuiltPartner } from '../support/partner.ts';
import type { Stack } from '../support/stack.ts';

/** The stack and the people of the paths. */
interface MoneyPlace {
  stack: Stack;
  superAdmin: BuiltUser;
  operators: Operators;
  /** The second approver. */
  second: Pick<BuiltUser, 'token'>;
  person: BuiltUser;
  organization: BuiltUser;
  cause: BuiltTarget;
  partner: BuiltPartner;
}

/** Set before each case. */
export const at = {} as MoneyPlace;

/** A path of money: its preparation, which returns the move. */
export type MoneyPath = [name: string, prepare: () => Promise<() => Promise<unknown>>];
