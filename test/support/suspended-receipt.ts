import { eventually, type Stack } from './stack.ts';

/** Waits until money for this order or payment is in suspense; returns its receipt's id. */
export async function suspendedUnder({ em }: Pick<Stack, 'em'>, reference: string): Promise<string> {
  const [receipt] = await eventually(
    () =>
      em().execute<{ id: string }[]>("select id from receipts where reference = ? and state = 'suspended'", [
        reference,
      ]),
    (held) => held.length === 1,
  );
  return String(receipt?.id);
}
