/**
 * QRIS is EMVCo's merchant-presented code: a two-digit tag, a two-digit length, then the value; the checksum comes
 * last.
 */
export interface QrisMerchant {
  acquirerDomain: string;
  /** The merchant's PAN at its acquirer: 9360, the acquirer's code, then digits. */
  panNumber: string;
  merchantId: string;
  /** UMI, UKE, UME, UBE or URE: the size of the business. */
  criteria: string;
  /** The national merchant id: `ID` and 13 digits. */
  nationalId: string;
  categoryCode: string;
  name: string;
  city: string;
  postcode: string;
}

export interface QrisPayment {
  /** Whole rupiah. */
  amount: number;
  billNumber?: string;
  /** At most 25 characters. */
  reference?: string;
  terminal?: string;
}

function field(tag: string, value: string): string {
  if (value.length === 0 || value.length > 99) throw new RangeError(`QRIS tag ${tag} must have 1 to 99 characters`);
  if (!/^[\x20-\x7e]+$/.test(value)) throw new RangeError(`QRIS tag ${tag} must be printable ASCII`);
  return `${tag}${String(value.length).padStart(2, '0')}${value}`;
}

/** CRC16-CCITT-FALSE (polynomial 1021, initial FFFF), as four upper-case hex digits. */
export function crc16(text: string): string {
  let crc = 0xffff;
  for (const byte of Buffer.from(text, 'utf8')) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff) >>> 0;
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
}

/**
 * The payload of a dynamic QRIS for one payment of this amount; 0 makes a static QRIS for any amount. Throws RangeError
 * when a value does not fit.
 */
export function buildQris(merchant: QrisMerchant, { amount, billNumber, reference, terminal }: QrisPayment): string {
  if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError('a QRIS amount must be whole rupiah');
  const acquirer =
    field('00', merchant.acquirerDomain) +
    field('01', merchant.panNumber) +
    field('02', merchant.merchantId) +
    field('03', merchant.criteria);
  const national = field('00', 'ID.CO.QRIS.WWW') + field('02', merchant.nationalId) + field('03', merchant.criteria);
  const additional =
    (billNumber === undefined ? '' : field('01', billNumber)) +
    (reference === undefined ? '' : field('05', reference)) +
    (terminal === undefined ? '' : field('07', terminal));
  const payload =
    field('00', '01') +
    field('01', amount === 0 ? '11' : '12') +
    field('26', acquirer) +
    field('51', national) +
    field('52', merchant.categoryCode) +
    field('53', '360') +
    (amount === 0 ? '' : field('54', String(amount))) +
    field('58', 'ID') +
    field('59', merchant.name) +
    field('60', merchant.city) +
    field('61', merchant.postcode) +
    (additional === '' ? '' : field('62', additional));
  const summed = `${payload}6304`;
  return summed + crc16(summed);
}

/** Parses a payload; null when lengths do not fit or the checksum is wrong. */
export function readQris(payload: string): Map<string, string> | null {
  if (!/6304[0-9A-F]{4}$/.test(payload) || crc16(payload.slice(0, -4)) !== payload.slice(-4)) return null;
  return readFields(payload);
}

/** The fields of a template: tag to value; null when lengths do not fit. */
export function readFields(text: string): Map<string, string> | null {
  const fields = new Map<string, string>();
  for (let at = 0; at < text.length; ) {
    const head = text.slice(at, at + 4);
    if (!/^\d{4}$/.test(head)) return null;
    const end = at + 4 + Number(head.slice(2));
    if (end > text.length) return null;
    fields.set(head.slice(0, 2), text.slice(at + 4, end));
    at = end;
  }
  return fields;
}

/** A merchant that does not exist, so that no wallet can pay it by mistake. */
export const sandboxMerchant: QrisMerchant = {
  acquirerDomain: 'COM.EXAMPLE.SANDBOX',
  panNumber: '936009990000000017',
  merchantId: 'SB0000001',
  criteria: 'URE',
  nationalId: 'ID1020000000001',
  categoryCode: '8398',
  name: 'AMANAH SANDBOX',
  city: 'JAKARTA',
  postcode: '10110',
};

/** A UUID in base 36, which fits the 25 characters that tag 62 allows. */
export function qrisReference(uuid: string): string {
  return BigInt(`0x${uuid.replaceAll('-', '')}`)
    .toString(36)
    .toUpperCase()
    .padStart(25, '0');
}
