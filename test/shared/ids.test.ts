import { v5, version } from 'uuid';
import { newAddressId, newId, paymentOrderIdFor } from '../../src/shared/ids.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

describe('Ids', () => {
  it('New ids sort in the order of their creation', () => {
    const ids = Array.from({ length: 1000 }, newId);
    expect(ids.every((id) => version(id) === 7)).toBe(true);
    expect(ids.toSorted()).toEqual(ids);
    expect(version(paymentOrderIdFor(newId(), undefined))).toBe(7);
  });

  it('An address’s id reveals no time', () => {
    expect(version(newAddressId())).toBe(4);
  });

  it('A derived id is deterministic', () => {
    const user = newId();
    expect(paymentOrderIdFor(user, 'key')).toBe(paymentOrderIdFor(user, 'key'));
    const name = `payment-order/${user}/key`;
    expect(paymentOrderIdFor(user, 'key')).toBe(v5(name, 'b3a9c8a4-6a0d-4a51-9d1a-0c5d8f3f5a10'));
  });

  it('The database generates no random ids', async () => {
    const random = await stack.em().execute<{ place: string }[]>(
      `select proname as place from pg_proc
         where pronamespace = 'public'::regnamespace and prosrc ~ 'gen_random_uuid|uuidv4'
       union all select adrelid::regclass::text from pg_attrdef where pg_get_expr(adbin, adrelid) ~ 'gen_random_uuid|uuidv4'`,
    );
    expect(random).toEqual([]);
  });
});
