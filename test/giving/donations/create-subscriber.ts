import type { BuiltUser } from '../../support/build.ts';
import type { Http } from '../../support/http.ts';
import type { Stack } from '../../support/stack.ts';

export const subscriptionsPath = '/v1/donations/subscriptions';

interface Place {
  stack: Http & Pick<Stack, 'em'>;
  donor: BuiltUser;
  causeId: string;
}

/** Returns the requests that subscription tests make for the current donor and cause. */
export function createSubscriber(place: () => Place) {
  const subscribe = (body: object = {}, headers: Record<string, string> = {}, user = place().donor) => {
    const { stack, donor, causeId } = place();
    return stack.post(
      subscriptionsPath,
      { cause_id: causeId, amount: '1000', source_account_id: donor.accountId, interval: 'monthly', ...body },
      { token: user.token, headers },
    );
  };
  return {
    subscribe,
    async begin(body: object = {}): Promise<{ id: string; started_at: string; next_payment_at: string }> {
      const { status, body: answer } = await subscribe(body);
      expect({ status, message: answer.message }).toEqual({ status: 201, message: expect.any(String) });
      return answer.data;
    },
    read: async (id: string, user = place().donor) =>
      (await place().stack.get(`${subscriptionsPath}/${id}`, { token: user.token })).body.data,
    stop: (id: string, user = place().donor) =>
      place().stack.delete(`${subscriptionsPath}/${id}`, undefined, { token: user.token }),
    donations: async () =>
      (await place().stack.get('/v1/donations?limit=100', { token: place().donor.token })).body.data as {
        total: number;
        items: { type: string; subscription_id: string }[];
      },
    /** Returns the attempts of a subscription: period, outcome, and due day (UTC+7). */
    attemptsOf: (id: string) =>
      place()
        .stack.em()
        .execute<{ period: number; attempt: number; outcome: string; due: string }[]>(
          `select period, attempt, outcome, to_char(due_at at time zone 'Asia/Jakarta', 'YYYY-MM-DD') as due
           from donation_subscription_attempts where subscription_id = ? order by period, attempt`,
          [id],
        ),
  };
}
