/** The channels and banks of the example partner, with their fees. */
export const channels = {
  fee_mode: 'DEDUCTED',
  collection: [
    {
      method: 'virtual_account',
      channel: 'BCA',
      fixed: '4000.0000',
      basis_points: 0,
      minimum_amount: '10000.0000',
      maximum_amount: '50000000.0000',
      refundable: false,
      refundable_in_part: false,
      refund_window_days: 0,
    },
    {
      method: 'qris',
      fixed: '0.0000',
      basis_points: 70,
      minimum_amount: '1.0000',
      maximum_amount: '10000000.0000',
      refundable: false,
      refundable_in_part: false,
      refund_window_days: 0,
    },
    {
      method: 'ewallet',
      channel: 'DANA',
      fixed: '1500.0000',
      basis_points: 0,
      minimum_amount: '1501.0000',
      maximum_amount: '20000000.0000',
      refundable: true,
      refundable_in_part: true,
      refund_window_days: 30,
    },
  ],
  payout_banks: [
    {
      bank_code: 'BCA',
      name: 'Bank Central Asia',
      fixed: '2500.0000',
      basis_points: 0,
      minimum_amount: '12500.0000',
      maximum_amount: '250000000.0000',
      account_number_min_length: 10,
      account_number_max_length: 10,
    },
  ],
};

/** The partner's limits after the example payout. */
export const limits = {
  max_payout_amount: { maximum: '25000000.0000', used: '0.0000', remaining: '25000000.0000' },
  max_daily_amount: { maximum: '100000000.0000', used: '200000.0000', remaining: '99800000.0000' },
  max_hourly_count: { maximum: 1000, used: 1, remaining: 999 },
};
