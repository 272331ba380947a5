import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { WireError } from './wire-error.ts';

/** Virtual account numbers by bank: the bank's merchant prefix, then the customer's digits. */
const shapes = {
  BCA: { prefix: '10766', length: 16 },
  BJB: { prefix: '1234', length: 16 },
  BNC: { prefix: '9091', length: 16 },
  BNI: { prefix: '8808', length: 16 },
  BRI: { prefix: '92001', length: 18 },
  BSI: { prefix: '9347', length: 16 },
  CIMB: { prefix: '9349', length: 16 },
  HANA: { prefix: '9772', length: 16 },
  MANDIRI: { prefix: '88908', length: 16 },
  MUAMALAT: { prefix: '8778', length: 16 },
  PERMATA: { prefix: '7293', length: 16 },
  SAHABAT_SAMPOERNA: { prefix: '4011', length: 16 },
} as const satisfies Record<string, { prefix: string; length: number }>;

/** Maximum amount of a payment, in IDR. */
const mostAtBca = 60_000_000;
const mostAtOnce = 50_000_000_000;

export const virtualAccountBanks = Object.keys(shapes);

/** A name as banks accept it in an instruction: only characters that their systems do not drop or replace. */
export const nameAtBank = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .regex(/^[\x20-\x7e]*$/, 'must be Latin letters without accents, digits and punctuation');

/** Throws if the amount exceeds the bank's maximum for one payment into a virtual account. */
export function requirePayableInto(bank: string, amount: number): void {
  const most = bank === 'BCA' ? mostAtBca : mostAtOnce;
  if (amount > most) throw new WireError(400, 'MAXIMUM_AMOUNT_LIMIT_ERROR', `${bank} accepts at most ${most} at once`);
}

/** Returns a random number in this bank's format; the caller checks that it is free. */
export function drawAccountNumber(bank: string): string {
  const shape = Object.entries(shapes).find(([code]) => code === bank)?.[1];
  if (!shape) throw new RangeError(`no virtual accounts at ${bank}`);
  let number: string = shape.prefix;
  while (number.length < shape.length) number += String(randomInt(10));
  return number;
}
