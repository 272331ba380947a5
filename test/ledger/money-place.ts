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

/** Filled before the tests, and in part before each. */
export const at = {} as MoneyPlace;

/** A path of money: what prepares it, and returns the function that moves the money. */
export type MoneyPath = [name: string, prepare: () => Promise<() => Promise<unknown>>];
