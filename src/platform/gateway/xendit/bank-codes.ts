/** The banks available for payouts: maps our short code to the provider's channel code. */
export const payoutChannelCodes = {
  ALADIN: 'ID_ALADIN',
  ALLO: 'ID_ALLO',
  BCA: 'ID_BCA',
  BCA_DIGITAL: 'ID_BCA_DIGITAL',
  BCA_SYARIAH: 'ID_BCA_SYR',
  BJB: 'ID_BJB',
  BNI: 'ID_BNI',
  BRI: 'ID_BRI',
  BSI: 'ID_BSI',
  BTN: 'ID_BTN',
  BUKOPIN: 'ID_BUKOPIN',
  CIMB: 'ID_CIMB',
  DANAMON: 'ID_DANAMON',
  DBS: 'ID_DBS',
  DKI: 'ID_DKI',
  HANA: 'ID_HANA',
  JAGO: 'ID_JAGO',
  MANDIRI: 'ID_MANDIRI',
  MAYBANK: 'ID_MAYBANK',
  MEGA: 'ID_MEGA',
  MUAMALAT: 'ID_MUAMALAT',
  OCBC: 'ID_OCBC',
  PANIN: 'ID_PANIN',
  PERMATA: 'ID_PERMATA',
  SEABANK: 'ID_SEABANK',
  SINARMAS: 'ID_SINARMAS',
  UOB: 'ID_UOB',
} as const satisfies Record<string, `ID_${string}`>;

/** Returns the provider's channel code for one of our bank codes, or null for an unknown bank. */
export function payoutChannelCodeOf(bankCode: string): string | null {
  const entry = Object.entries(payoutChannelCodes).find(([short]) => short === bankCode);
  return entry?.[1] ?? null;
}
