/**
 * An Indonesian mobile number in the form that wallets accept, `+628...`, from one that begins with 0, 62 or +62; null
 * for anything else, including foreign numbers.
 */
export function indonesianMobileOf(phone: string): string | null {
  const [, national] = /^(?:0|\+?62)(8\d{7,11})$/.exec(phone.replace(/[\s().-]/g, '')) ?? [];
  return national === undefined ? null : `+62${national}`;
}
