/** The kinds of accounts. */
export const accountKinds = [
  'user',
  'organization',
  'circle_holding',
  'saving_goal',
  'product',
  'open_donation_pool',
  'partner_available',
  'partner_pending',
  'partner_reserved',
  'withdrawal_reserved',
  'gateway_clearing',
  'fee_revenue',
  'provider_cost',
  'suspense',
  'loss',
] as const;

export type AccountKind = (typeof accountKinds)[number];

/** Returns whether this is a kind of partner account. */
export const isPartnerAccount = (kind: AccountKind): boolean => kind.startsWith('partner_');

/**
 * The platform's own accounts, created by migration. Our debts are positive: money from a payer is a negative posting
 * on gateway clearing (the provider owes it to us) and a positive posting on the payer's side.
 */
export const systemAccounts = {
  gatewayClearing: '00000000-0000-4000-8000-000000000001',
  feeRevenue: '00000000-0000-4000-8000-000000000002',
  providerCost: '00000000-0000-4000-8000-000000000003',
  suspense: '00000000-0000-4000-8000-000000000004',
  openDonationPool: '00000000-0000-4000-8000-000000000005',
  /** Money lost to transfers that cannot be charged to any account; may be negative. */
  loss: '00000000-0000-4000-8000-000000000006',
} as const;

/** The platform's accounts in the journal of a settled payment. */
export const accountsOfSettlement: readonly string[] = [
  systemAccounts.gatewayClearing,
  systemAccounts.feeRevenue,
  systemAccounts.providerCost,
];
