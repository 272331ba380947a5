import fc from 'fast-check';
import { buildQris, crc16, qrisReference, readFields, readQris, sandboxMerchant } from '../../dev/sandbox/qris.ts';
import { newId } from '../../src/shared/ids.ts';

const vector =
  '00020101021226610015COM.EXAMPLE.WWW01189360099900000000170209EX00000010303URE51440014ID.CO.QRIS.WWW0215ID10200000000010303URE5204839853033605405500005802ID5914YAYASAN CONTOH6007JAKARTA61051011062190108INV-00010703A0163046E05';

const exampleMerchant = {
  acquirerDomain: 'COM.EXAMPLE.WWW',
  panNumber: '936009990000000017',
  merchantId: 'EX0000001',
  criteria: 'URE',
  nationalId: 'ID1020000000001',
  categoryCode: '8398',
  name: 'YAYASAN CONTOH',
  city: 'JAKARTA',
  postcode: '10110',
};

describe('QRIS', () => {
  test('The QRIS checksum of "123456789" is 29B1', () => {
    expect(crc16('123456789')).toBe('29B1');
  });

  test('The payload of the published QRIS example is reproduced exactly', () => {
    expect(buildQris(exampleMerchant, { amount: 50_000, billNumber: 'INV-0001', terminal: 'A01' })).toBe(vector);
  });

  test('The published QRIS example is parsed, and its checksum is valid', () => {
    const fields = readQris(vector);
    expect(fields?.get('54')).toBe('50000');
    expect(fields?.get('53')).toBe('360');
    expect(readFields(fields?.get('62') ?? '')?.get('01')).toBe('INV-0001');
  });

  test('Every amount yields a valid dynamic QRIS code with that amount and a reference of 25 characters', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999_999_999 }), fc.uuid(), (amount, uuid) => {
        const fields = readQris(buildQris(sandboxMerchant, { amount, reference: qrisReference(uuid) }));
        expect(fields?.get('01')).toBe('12');
        expect(fields?.get('54')).toBe(String(amount));
        expect(readFields(fields?.get('62') ?? '')?.get('05')).toHaveLength(25);
      }),
      { numRuns: 200 },
    );
  });

  test('A changed character of a QRIS code is detected', () => {
    const payload = buildQris(sandboxMerchant, { amount: 15_000, reference: qrisReference(newId()) });
    expect(readQris(payload.replace('540515000', '540595000'))).toBeNull();
  });

  test('QRIS references of different ids differ', () => {
    const ids = Array.from({ length: 100 }, newId);
    expect(new Set(ids.map(qrisReference)).size).toBe(100);
  });

  test('A QRIS code with a fraction, a negative amount or a name that does not fit is refused', () => {
    expect(() => buildQris(sandboxMerchant, { amount: 0.5 })).toThrow(RangeError);
    expect(() => buildQris(sandboxMerchant, { amount: -1 })).toThrow(RangeError);
    expect(() => buildQris({ ...sandboxMerchant, name: 'x'.repeat(100) }, { amount: 1 })).toThrow(RangeError);
  });
});
