import type { BuiltUser } from '../../support/build.ts';
import type { Stack } from '../../support/stack.ts';

/** A valid request body for a cause. */
export const causeBody = (accountId: string, body: object = {}) => ({
  account_id: accountId,
  name: 'Clean water',
  description: 'A well for the village',
  target_amount: 1_000_000,
  regulations: 'Receipts are published',
  benefit: 'Water for 200 families',
  ...body,
});

/** Creates a cause of the creator, approved by the super admin if one is given. Returns its id. */
export async function buildCause(
  stack: Pick<Stack, 'post' | 'patch'>,
  creator: BuiltUser,
  approver?: BuiltUser,
): Promise<string> {
  const made = await stack.post('/v1/charitable-causes', causeBody(creator.accountId), { token: creator.token });
  if (made.status !== 201) throw new Error(`no cause: ${JSON.stringify(made.body)}`);
  if (approver) {
    const approved = await stack.patch(`/v1/charitable-causes/${made.body.id}/approve`, {}, { token: approver.token });
    if (approved.status !== 200) throw new Error(`not approved: ${JSON.stringify(approved.body)}`);
  }
  return made.body.id;
}

/** Returns the amount that a cause has received, IDR, as the API shows it. */
export async function currentAmountOf(stack: Pick<Stack, 'get'>, reader: BuiltUser, causeId: string): Promise<number> {
  const { body } = await stack.get(`/v1/charitable-causes/${causeId}`, { token: reader.token });
  return body.charitable_cause.current_amount;
}
