/**
 * An Indonesian mobile number as wallets are given it, `+628...`, of one that begins with 0, 62 or +62; null of anything
 * else, also of a number of another country.
 */
export function indonesianMobileOf(phone: string): string | null {
  const [, national] = /^(?:0|\+?62)(8\d{7,11})$/.exec(phone.replace(/[\s().-]/g, '')) ?? [];
  return national === undefined ? null : `+62${national}`;
}
