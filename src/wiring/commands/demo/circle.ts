import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { westernIndonesiaDay } from '../../../shared/clock.ts';
import { openDatabase } from '../../open-database.ts';
import { CommandError } from '../run-command.ts';
import { type Actor, openStage, type Stage, say, until } from './stage.ts';

const contribution = '100000';

const createdShape = z.object({ id: z.string() });
const accountsShape = z.object({ data: z.object({ items: z.array(z.object({ id: z.string() })) }) });
const circleShape = z.object({
  saving_circle: z.object({
    status: z.string(),
    current_turn: z.int(),
    round: z.object({ turn_number: z.int() }).nullable(),
    members: z.array(z.object({ account_id: z.string().nullable(), turn_number: z.int().nullable() })),
  }),
});
const settlementShape = z.object({
  data: z.object({
    held: z.string(),
    members: z.array(
      z.object({ account_id: z.string(), paid: z.string(), received: z.string(), net_position: z.string() }),
    ),
  }),
});

/**
 * Runs an arisan of three members, from the first to the last round. The days between rounds are skipped: the start of
 * the next round is moved to now in the database, with the owner's rights, which no user of the product has.
 */
export async function tellCircle(): Promise<string> {
  const stage = openStage();
  const { api } = stage;
  const members = await findMembers(stage);
  const [creator] = members;
  const names = new Map(members.map(({ accountId, email }) => [accountId, email]));
  const { token } = creator;
  const { id } = await api(createdShape, '/v1/saving-circles', {
    token,
    body: {
      account_id: creator.accountId,
      name: 'Arisan Melati',
      amount: contribution,
      start_date: westernIndonesiaDay(new Date()),
      round_interval: 'daily',
      capacity: members.length,
    },
  });
  await api(z.unknown(), '/v1/saving-circles/members', {
    token,
    body: { saving_circle_id: id, account_ids: members.map(({ accountId }) => accountId) },
  });
  say(`Arisan Melati (${id}): ${members.length} members, IDR ${contribution} from each, a round a day.`);
  for (const member of members) say(`  ${member.email}: IDR ${await stage.balanceOf(member)}`);

  const read = async () => (await api(circleShape, `/v1/saving-circles/${id}`, { token })).saving_circle;
  for (let turn = 1; turn <= members.length; turn += 1) {
    if (turn > 1) await openNextRound(stage, creator, id, turn);
    const open = await until(`round of turn ${turn}`, read, ({ round }) => round?.turn_number === turn);
    const receiver = open.members.find((member) => member.turn_number === turn)?.account_id ?? '';
    for (const member of members) {
      await api(z.unknown(), '/v1/saving-circles/contribute', {
        token: member.token,
        body: { saving_circle_id: id, contribution_amount: contribution },
      });
    }
    await until(
      `pot of turn ${turn}`,
      read,
      ({ status, current_turn }) => status === 'completed' || current_turn > turn,
    );
    say(`Round ${turn}: everybody has paid, and ${names.get(receiver)} has received the pot.`);
  }
  const { status } = await read();
  if (status !== 'completed') throw new CommandError(`The circle is ${status}.`);

  const { data } = await api(settlementShape, `/v1/saving-circles/${id}/settlement`, { token });
  for (const { account_id, paid, received, net_position } of data.members) {
    say(`  ${names.get(account_id)}: paid ${paid}, received ${received}, stands at ${net_position}`);
  }
  for (const member of members) say(`  ${member.email}: IDR ${await stage.balanceOf(member)}`);
  return `The circle is ${status} and holds IDR ${data.held}.`;
}

/** Finds two existing users, and one who signs up and tops up by QRIS. */
async function findMembers(stage: Stage): Promise<[Actor, Actor, Actor]> {
  const { credentials, api, logIn, orderByQris, payInSandbox, untilPaid } = stage;
  const { individual, second_individual } = credentials;
  const newcomer = { email: `citra.${randomUUID().slice(0, 8)}@amanah.example`, password: randomUUID() };
  await api(z.unknown(), '/v1/auth/signup', { body: { name: 'Citra', ...newcomer } });
  const { token } = await logIn(newcomer, '');
  const { data } = await api(accountsShape, '/v1/accounts', { token });
  const third = { email: newcomer.email, token, accountId: data.items[0]?.id ?? '' };
  const order = await orderByQris(third, {
    reference_type: 'account_top_up',
    reference_id: third.accountId,
    amount: 3 * Number(contribution),
  });
  await payInSandbox(order);
  await untilPaid(third, order);
  say(`${third.email} has signed up, and topped up by QRIS.`);
  return [
    await logIn(individual, individual.account_id),
    await logIn(second_individual, second_individual.account_id),
    third,
  ];
}

/** Skips a day: the next round opens now. Changing the name makes the circle's workflow re-read the database. */
async function openNextRound({ urls, api }: Stage, { token }: Actor, id: string, turn: number): Promise<void> {
  const orm = await openDatabase({ url: urls.database, poolSize: 1 });
  try {
    await orm.em
      .fork()
      .execute("update saving_circles set next_opens_at = now() - interval '1 second' where id = ?", [id]);
  } finally {
    await orm.close(true);
  }
  const name = `Arisan Melati, round ${turn}`;
  await api(z.unknown(), `/v1/saving-circles/${id}`, { token, method: 'PATCH', body: { name } });
}
