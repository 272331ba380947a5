import { randomInt } from 'node:crypto';

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

export const virtualAccountBanks = Object.keys(shapes);

/** A number in this bank's format; random, so the caller checks that it is free. */
export function drawAccountNumber(bank: string): string {
  const shape = Object.entries(shapes).find(([code]) => code === bank)?.[1];
  if (!shape) throw new RangeError(`no virtual accounts at ${bank}`);
  let number: string = shape.prefix;
  while (number.length < shape.length) number += String(randomInt(10));
  return number;
}
