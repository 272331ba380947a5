export type { PaymentMethodKind } from '../../platform/gateway/gateway.ts';

import { addMoney, feeOf, isWholeRupiah, type Money } from '../../shared/money.ts';

export interface FeeRule {
  fee_fixed: Money;
  fee_basis_points: number;
}

/**
 * The fee that the payer pays on top of `nominal` (IDR, scale 4; docs/contract.md 3). The payer always transfers whole
 * rupiah: a fraction is rounded up to the next rupiah.
 */
export function adminFee(nominal: Money, { fee_fixed, fee_basis_points }: FeeRule): Money {
  const fee = feeOf(nominal, fee_fixed, fee_basis_points);
  if (isWholeRupiah(fee)) return fee;
  return addMoney(fee.slice(0, fee.indexOf('.')), '1');
}
