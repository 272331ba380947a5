/** How many digits an account number at a bank has. */
export interface AccountNumberLength {
  shortest: number;
  longest: number;
}

/** What is wrong with an account number at a bank, for the field that has it; null when the bank can have it. */
export function complainOfAccountNumber(
  number: string,
  bankCode: string,
  { shortest, longest }: AccountNumberLength,
): string | null {
  if (/^\d+$/.test(number) && number.length >= shortest && number.length <= longest) return null;
  return `an account at ${bankCode} has ${shortest === longest ? `${shortest}` : `${shortest} to ${longest}`} digits`;
}
