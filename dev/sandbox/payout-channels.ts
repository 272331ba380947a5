import { invalid, WireError } from './wire-error.ts';

/** A bank or wallet for payouts, as the provider lists it; amounts are whole rupiah. */
export interface PayoutChannel {
  code: string;
  category: 'BANK' | 'EWALLET';
  name: string;
  minimum: number;
  maximum: number;
}

const least = 10_000;
/** The limit of BI-FAST. */
const mostToBanks = 250_000_000;
const mostToWallets = 20_000_000;

const banks = {
  ID_ALADIN: 'Bank Aladin Syariah',
  ID_ALLO: 'Allo Bank',
  ID_BCA: 'Bank Central Asia',
  ID_BCA_DIGITAL: 'BCA Digital',
  ID_BCA_SYR: 'BCA Syariah',
  ID_BJB: 'Bank BJB',
  ID_BNI: 'Bank Negara Indonesia',
  ID_BRI: 'Bank Rakyat Indonesia',
  ID_BSI: 'Bank Syariah Indonesia',
  ID_BTN: 'Bank Tabungan Negara',
  ID_BUKOPIN: 'Bank Bukopin',
  ID_CIMB: 'CIMB Niaga',
  ID_DANAMON: 'Bank Danamon',
  ID_DBS: 'DBS Indonesia',
  ID_DKI: 'Bank DKI',
  ID_HANA: 'Bank Hana',
  ID_JAGO: 'Bank Jago',
  ID_MANDIRI: 'Bank Mandiri',
  ID_MAYBANK: 'Maybank Indonesia',
  ID_MEGA: 'Bank Mega',
  ID_MUAMALAT: 'Bank Muamalat',
  ID_OCBC: 'OCBC Indonesia',
  ID_PANIN: 'Bank Panin',
  ID_PERMATA: 'Bank Permata',
  ID_SEABANK: 'SeaBank Indonesia',
  ID_SINARMAS: 'Bank Sinarmas',
  ID_UOB: 'UOB Indonesia',
};
/** The length of account numbers at the banks where it is known. */
const accountLengths: Record<string, [shortest: number, longest: number]> = {
  ID_BCA: [10, 10],
  ID_BCA_SYR: [10, 10],
  ID_BNI: [7, 11],
  ID_BRI: [13, 17],
  ID_MANDIRI: [12, 17],
  ID_PERMATA: [7, 16],
};
const wallets = {
  ID_DANA: 'DANA',
  ID_GOPAY: 'GoPay',
  ID_LINKAJA: 'LinkAja',
  ID_OVO: 'OVO',
  ID_SHOPEEPAY: 'ShopeePay',
};

const channelsOf = (
  names: Record<string, string>,
  category: PayoutChannel['category'],
  maximum: number,
): PayoutChannel[] => Object.entries(names).map(([code, name]) => ({ code, category, name, minimum: least, maximum }));

export const payoutChannels: readonly PayoutChannel[] = [
  ...channelsOf(banks, 'BANK', mostToBanks),
  ...channelsOf(wallets, 'EWALLET', mostToWallets),
];

/** A channel in the provider's wire format. */
export const presentPayoutChannel = ({ code, category, name, minimum, maximum }: PayoutChannel) => ({
  channel_code: code,
  channel_category: category,
  currency: 'IDR',
  channel_name: name,
  amount_limits: { minimum, maximum, minimum_increment: 1 },
});

/**
 * Throws the provider's error for an unknown channel, an amount outside its limits, a wallet account that is not a
 * mobile number, or an account number of the wrong length for its bank.
 */
export function requirePayable(channelCode: string, accountNumber: string, amount: number): void {
  const channel = payoutChannels.find(({ code }) => code === channelCode);
  if (!channel) throw new WireError(400, 'CHANNEL_CODE_NOT_SUPPORTED', `there is no channel ${channelCode}`);
  if (channel.category === 'EWALLET' && !/^08\d{7,11}$/.test(accountNumber)) {
    throw invalid('channel_properties.account_number: a wallet needs a mobile number, 08...');
  }
  const [shortest, longest] = accountLengths[channelCode] ?? [5, 20];
  if (accountNumber.length < shortest || accountNumber.length > longest) {
    throw invalid(`channel_properties.account_number: ${channelCode} has numbers of ${shortest} to ${longest} digits`);
  }
  if (amount < channel.minimum) {
    throw new WireError(400, 'MINIMUM_TRANSFER_LIMIT_ERROR', `${channelCode} accepts ${channel.minimum} or more`);
  }
  if (amount > channel.maximum) {
    throw new WireError(400, 'MAXIMUM_TRANSFER_LIMIT_ERROR', `${channelCode} accepts at most ${channel.maximum}`);
  }
}

/** The name of the bank or wallet with this code, for payments or payouts; the code itself if unknown. */
export const bankNameOf = (code: string): string =>
  payoutChannels.find((channel) => channel.code === code || channel.code === `ID_${code}`)?.name ?? code;
