import pg from 'pg';
import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import { newId } from '../../../src/shared/ids.ts';
import { buildPayer, magicAccount, pay, payoutWhen } from '../../money-out/payouts/build-payouts.ts';
import { type BuiltUser, buildIndividual, buildSuperAdmin } from '../../support/build.ts';
import { buildGoal } from '../../support/build-targets.ts';
import { casesOf } from '../../support/full.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** SQLSTATEs of refusals. */
const notPermitted = '42501';
const notCovered = 'AM001';
const notPaid = '22012';
const final = 'AM003';
const againstItsLaw = 'AM008';
const tooSoon = 'AM009';
const unproven = 'AM010';
/** A check constraint failed; a text is not a time. */
const notAllowed = '23514';
const noTime = '22007';
const tooMuch = 999_999_999_999;

const { gatewayClearing, feeRevenue, providerCost, suspense, openDonationPool } = systemAccounts;

/** The target of the attacks: a stack with a history, and its ids. */
interface Loot {
  stack: Stack;
  urls: { owner: string; app: string; reader: string };
  thief: BuiltUser;
  victim: BuiltUser;
  /** Three people who may propose and approve. */
  admin: BuiltUser;
  second: BuiltUser;
  third: BuiltUser;
  /** A paid order, and an open one. */
  paid: string;
  open: string;
  /** A payout that succeeded, with its attempt. */
  payout: string;
  /** A payout that waits for the provider. */
  waiting: string;
  /** A receipt in suspense. */
  receipt: string;
  partner: { id: string; available: string; pending: string; reserved: string };
  goalAccount: string;
}

let loot: Loot;
beforeAll(async () => {
  const stack = await startStack({ worker: true, sandbox: true });
  const [thief, victim] = [await buildIndividual(stack), await buildIndividual(stack, { balance: '1000000' })];
  const order = async () => {
    const body = { reference_type: 'account_top_up', reference_id: victim.accountId, payment_id: 1, amount: 50_000 };
    return (await stack.post('/v1/payments/gateway', body, { token: victim.token })).body.data;
  };
  const [paid, open] = [await order(), await order()];
  const statusOf = async (id: string) =>
    (await stack.em().execute<{ status: string }[]>('select status from payment_orders where id = ?', [id]))[0]?.status;
  const payOnce = () => stack.sandbox.post('/sandbox/pay', { payment_code: paid.payment_code });
  await payOnce();
  await eventually(
    () => statusOf(paid.payment_order_id),
    (status) => status === 'PAID',
  );
  const twice = (await payOnce()).body;
  const ofTwice = "select id from receipts where state = 'suspended' and provider_payment_id = ?";
  const suspended = await eventually(
    () => stack.em().execute<{ id: string }[]>(ofTwice, [twice.id]),
    (rows) => rows.length === 1,
  );
  const partner = await buildPayer(stack);
  const { id: payout } = await pay(partner);
  await payoutWhen(partner, payout, 'succeeded');
  const { id: waiting } = await pay(partner, { bank_account_number: magicAccount('131313') });
  const goal = await buildGoal(stack, victim, '1000');
  const [{ account_id: goalAccount }] = await stack
    .em()
    .execute<[{ account_id: string }]>('select account_id from saving_goals where id = ?', [goal.id]);
  loot = {
    stack,
    urls: stack.databaseUrls,
    thief,
    victim,
    admin: await buildSuperAdmin(stack),
    second: await buildSuperAdmin(stack),
    third: await buildSuperAdmin(stack),
    paid: paid.payment_order_id,
    open: open.payment_order_id,
    payout,
    waiting,
    receipt: suspended[0]?.id ?? '',
    partner: { id: partner.id, ...partner.account },
    goalAccount,
  };
}, 120_000);
afterAll(() => expectChecksEmpty(loot.stack));
afterAll(async () => {
  await Promise.all([...sessions.values()].map((client) => client.end()));
  await loot.stack.stop();
});

/** A session of each role, for attacks that leave no trace. */
const sessions = new Map<string, pg.Client>();

async function sessionOf(url: string): Promise<pg.Client> {
  const known = sessions.get(url);
  if (known) return known;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  sessions.set(url, client);
  return client;
}

/** Returns the SQLSTATE of the first refused statement, and rolls everything back. */
async function attempt(url: string, ...statements: string[]): Promise<string> {
  const client = await sessionOf(url);
  try {
    await client.query('begin');
    for (const statement of statements) await client.query(statement);
    return 'nothing refused it';
  } catch (error) {
    return error instanceof pg.DatabaseError || (error as { code?: string }).code
      ? String((error as { code?: string }).code)
      : String(error);
  } finally {
    await client.query('rollback');
  }
}

const journal = (kind: string, key: string, postings: Record<string, number>) =>
  `select post_journal(gen_random_uuid(), '${key}', '${kind}', '{${Object.keys(postings).join(',')}}',
     '{${Object.values(postings).join(',')}}')`;

const decision = newId();
const settle = `select settle_receipt('${newId()}', '${decision}')`;
/** Statements by which two platform users decide that suspense money belongs to the thief, or a variation of that. */
const decided = (
  it: Loot,
  {
    proposer = it.admin.id,
    approver = it.second.id,
    account = it.thief.accountId,
    note = 'ticket 7',
  }: { proposer?: string; approver?: string | null; account?: string; note?: string } = {},
) => [
  `insert into decisions (id, kind, receipt_id, action, account_id, note, evidence, proposed_by)
   values ('${decision}', 'settle_receipt', '${it.receipt}', 'credit', '${account}', '${note}', '{}', '${proposer}')`,
  ...(approver === null ? [] : [`update decisions set approved_by = '${approver}' where id = '${decision}'`]),
];

type Attack = [never: string, statements: (it: Loot) => string[], refusal: string];

const one = (statement: string) => (): string[] => [statement];

/** Attacks that need the owner's rights or the machine's, for which both roles get the same error. */
const ofTheOwner: Attack[] = [
  ['disables all triggers', one("set session_replication_role = 'replica'"), notPermitted],
  ['disables the triggers of a table', one('alter table postings disable trigger all'), notPermitted],
  ['drops a trigger', one('drop trigger postings_are_applied on postings'), notPermitted],
  ['drops a constraint', one('alter table payouts drop constraint payouts_check'), notPermitted],
  ['replaces a function', () => [replaced('post_journal')], notPermitted],
  ['drops a table', one('drop table events cascade'), notPermitted],
  ['truncates the audit trail', one('truncate events'), notPermitted],
  ['truncates the journals', one('truncate journals, postings, transactions cascade'), notPermitted],
  ['deletes from the audit trail', one('delete from events'), notPermitted],
  ['deletes from a month of the audit trail', one('delete from months.events_default'), notPermitted],
  ['creates a partition', one("select make_month('events', '2020-01-01')"), notPermitted],
  ['changes an event’s actor', one('update events set actor_id = null'), notPermitted],
  ['shadows a table by a temporary one', one('create temporary table account_balances (n int)'), notPermitted],
  ['creates a table', one('create table account_balances_2 (n int)'), notPermitted],
  ['creates a schema', one('create schema pg_catalog_2'), notPermitted],
  ['creates a function', one("create function public.now() returns int language sql as 'select 1'"), notPermitted],
  [
    'creates an operator',
    one('create operator public.= (leftarg = uuid, rightarg = text, procedure = pg_catalog.texteq)'),
    notPermitted,
  ],
  ['publishes every change', one('create publication mine for all tables'), notPermitted],
  [
    'creates a trigger on one of our tables',
    one('create trigger mine after insert on login_failures for each row execute function apply_postings()'),
    notPermitted,
  ],
  ['reduces a limit’s tally', one('update payout_tallies set amount = 0'), notPermitted],
  ['deletes a limit’s tally', one('delete from payout_tallies'), notPermitted],
  ['raises a balance', one('update account_balances set balance = balance + 1'), notPermitted],
  [
    'gives an account a balance',
    one(`insert into account_balances values ('${newId()}', 0, ${tooMuch})`),
    notPermitted,
  ],
  ['deletes balances', one('delete from account_balances'), notPermitted],
  [
    'inserts a posting',
    (it) => [
      `insert into postings (journal_id, account_id, amount)
         select id, '${gatewayClearing}', -1 from journals limit 1`,
      `insert into postings (journal_id, account_id, amount) select id, '${it.thief.accountId}', 1 from journals limit 1`,
    ],
    notPermitted,
  ],
  ['changes a posting', one('update postings set amount = amount * 2'), notPermitted],
  ['deletes a posting', one('delete from postings'), notPermitted],
  [
    'merges into postings',
    one(`merge into postings p using journals j on p.journal_id = j.id when matched then delete`),
    notPermitted,
  ],
  ['inserts a journal', one(`insert into journals values ('${newId()}', 'mine', 'mine')`), notPermitted],
  ['changes a journal', one("update journals set business_key = business_key || 'x'"), notPermitted],
  ['deletes a journal', one('delete from journals'), notPermitted],
  ['inserts a transaction', one('insert into transactions select * from transactions'), notPermitted],
  ['changes a transaction', one('update transactions set amount = amount * 2'), notPermitted],
  ['deletes a transaction', one('delete from transactions'), notPermitted],
  ['inserts a receipt', one('insert into receipts select * from receipts'), notPermitted],
  ['changes a receipt', one("update receipts set state = 'suspended'"), notPermitted],
  ['deletes a receipt', one('delete from receipts'), notPermitted],
  ['inserts an attempt of a payout', one('insert into payout_attempts select * from payout_attempts'), notPermitted],
  ['changes an attempt of a payout', one("update payout_attempts set outcome = 'unsent'"), notPermitted],
  ['deletes an attempt of a payout', one('delete from payout_attempts'), notPermitted],
  [
    'adds a journal to an existing seal',
    one('insert into seal_journals (journal_id, seal_number) select id, 1 from journals'),
    notPermitted,
  ],
  ['locks the postings exclusively', one('lock table postings in access exclusive mode'), notPermitted],
  [
    'posts an unjustified journal through the inner function',
    (it) => [
      journal('x', 'x', { [gatewayClearing]: -1, [it.thief.accountId]: 1 }).replace('post_journal', 'write_journal'),
    ],
    notPermitted,
  ],
  ['calls a trigger’s function', one('select apply_postings()'), notPermitted],
  ['calls the function that checks journals', one("select * from proven_postings('x', 'x')"), notPermitted],
  ['becomes the owner', (it) => [`set role ${ownerOf(it)}`], notPermitted],
  ['sets its session to the owner', (it) => [`set session authorization ${ownerOf(it)}`], notPermitted],
  ['makes itself a member of the owner', (it) => [`grant ${ownerOf(it)} to current_user`], notPermitted],
  ['makes itself a superuser', one('alter role current_user superuser'), notPermitted],
  ['creates a role', one('create role mine login'), notPermitted],
  ['grants a right', one('grant execute on function write_journal to public'), notPermitted],
  ['disables the log of its statements', one("set log_statement = 'none'"), notPermitted],
  ['reloads the server’s settings', one('select pg_reload_conf()'), notPermitted],
  ['runs a program', one("copy users (name) to program 'cat'"), notPermitted],
  ['reads a program’s output', one("copy login_failures (address) from program 'id'"), notPermitted],
  ['writes a file of the server', one("copy users (name) to '/tmp/amanah-stolen'"), notPermitted],
  ['reads a file of the server', one("select pg_read_file('/etc/passwd')"), notPermitted],
  ['imports a file of the server', one("select lo_import('/etc/passwd')"), notPermitted],
  ['lists the files of the server', one("select pg_ls_dir('/')"), notPermitted],
  ['reads the passwords of roles', one('select rolpassword from pg_authid'), notPermitted],
  ['loads a library', one("load '/tmp/mine.so'"), notPermitted],
];

const replaced = (name: string) =>
  `create or replace function public.${name}(p_id uuid, p_business_key text, p_kind text, p_accounts uuid[],
     p_amounts numeric[]) returns boolean language sql as 'select true'`;

const ownerOf = ({ urls }: Loot): string => new URL(urls.owner).username;

const payFromBalance = (
  it: Loot,
  {
    user = it.victim.id,
    source = it.victim.accountId,
    target = it.thief.accountId,
    amount = 1 as number | string,
    kind = 'pocket-transfer',
    journalId = newId(),
  },
) => {
  const id = newId();
  const asked = {
    transaction_id: id,
    journal_id: journalId,
    kind,
    user_id: user,
    user_type: 'individual',
    source_account_id: source,
    amount,
    reference_type: 'account_top_up',
    reference_id: target,
    purpose: 'pocket_transfer',
    answer: '',
  };
  // A refused payment is an outcome, not an error; here it is turned into one.
  return `select 1 / (outcome = 'paid')::integer
    from pay_from_balances('${JSON.stringify([asked])}', targets_at(array['${target}'::uuid]))`;
};

/** A circle of the thief alone with this holding account, and its pot. */
const circleOver = (it: Loot, account: string): string[] => {
  const [circle, member] = [newId(), newId()];
  return [
    `insert into saving_circles (id, name, account_id, holding_account_id, owner_type, owner_id, created_by, capacity,
       amount, visibility, round_interval, turn_order, start_date, starts_at)
     values ('${circle}', 'Mine', '${it.thief.accountId}', '${account}', 'individual', '${it.thief.id}', '${it.thief.id}',
       1, 1, 'private', 'monthly', 'joining', '2026-01-01', now())`,
    `insert into saving_circle_members (id, saving_circle_id, account_id, user_id, turn_number)
     values ('${member}', '${circle}', '${it.thief.accountId}', '${it.thief.id}', 1)`,
    `insert into saving_circle_rounds (saving_circle_id, turn_number, receiver_member_id, opened_at, due_at)
     values ('${circle}', 1, '${member}', now(), now())`,
    `insert into saving_circle_contributions (id, saving_circle_id, member_id, user_id, turn_number, amount, rail, status,
       refund_account_id, transaction_id)
     values ('${newId()}', '${circle}', '${member}', '${it.thief.id}', 1, 1, 'balance', 'completed',
       '${it.thief.accountId}', '${newId()}')`,
    journal('saving-circle.paid-out', `saving-circle/${circle}/turn/1/pot`, { [account]: -1, [it.thief.accountId]: 1 }),
  ];
};

/** A partner of the thief with this account for available money, and a payout of it. */
const partnerOver = (it: Loot, account: string): string[] => {
  const [partner, payout] = [newId(), newId()];
  return [
    `insert into partners (id, name, organization_id, fee_mode, available_account_id, pending_account_id,
       reserved_account_id)
     select '${partner}', 'Mine', organization_id, 'DEDUCTED', '${account}', '${it.victim.accountId}',
       '${it.thief.accountId}' from partners limit 1`,
    `insert into payouts (id, kind, source_account_id, reserved_account_id, partner_id, reference, fee_mode, amount, fee,
       net_amount, bank_code, texts_sealed, status, created_at, updated_at)
     values ('${payout}', 'partner_payout', '${account}', '${it.thief.accountId}', '${partner}', 'PO-MINE', 'DEDUCTED', 1, 0, 1, 'BCA', 'x', 'pending', now(), now())`,
    journal('partner-payout.reserved', `partner-payout/${payout}/reserved`, {
      [account]: -1,
      [it.thief.accountId]: 1,
    }),
  ];
};

/** Attacks that checks refuse to the application's role; the reader lacks the rights to try them. */
const ofTheApplication: Attack[] = [
  ['moves a paid order back', (it) => [moved('payment_orders', 'WAITING_PAYMENT', it.paid)], againstItsLaw],
  ['moves a final payout back', (it) => [moved('payouts', 'pending', it.payout)], againstItsLaw],
  ['changes an order’s amount', (it) => [set('payment_orders', 'nominal = 1', it.open)], notPermitted],
  [
    'changes an order’s account',
    (it) => [set('payment_orders', `target_account_id = '${it.thief.accountId}'`, it.open)],
    notPermitted,
  ],
  ['changes a payout’s amount', (it) => [set('payouts', 'net_amount = 1', it.payout)], notPermitted],
  ['deletes a payout', (it) => [`delete from payouts where id = '${it.payout}'`], notPermitted],
  [
    'takes over the account of a partner',
    (it) => [set('partners', `available_account_id = '${it.thief.accountId}'`, it.partner.id)],
    notPermitted,
  ],
  ['takes over an account', (it) => [set('accounts', `user_id = '${it.thief.id}'`, it.victim.accountId)], notPermitted],
  [
    'opens a second account that may go negative',
    one("insert into accounts (id, name, kind) values (gen_random_uuid(), 'Mine', 'gateway_clearing')"),
    '23505',
  ],
  ['deletes a user', (it) => [`delete from users where id = '${it.admin.id}'`], final],
  ...[
    ['a person', (it: Loot) => it.victim.accountId],
    ['a saving goal', (it: Loot) => it.goalAccount],
    ['a partner’s reserved account', (it: Loot) => it.partner.reserved],
    ['the provider', () => gatewayClearing],
    ['suspense', () => suspense],
  ].map(
    ([whose, accountOf]): Attack => [
      `makes a circle that holds the money of ${whose}`,
      (it) => refundOfCircle(it, (accountOf as (it: Loot) => string)(it)),
      unproven,
    ],
  ),
  ...(['available', 'pending', 'reserved'] as const).map(
    (place): Attack => [
      `makes a partner whose ${place} money is the provider's`,
      (it) => reservationOf(it, { [place]: gatewayClearing }),
      unproven,
    ],
  ),
  ['creates a partner with another’s accounts', (it) => reservationOf(it, it.partner), unproven],
  [
    'deletes a user as if only invited',
    (it) => [
      moved('users', 'suspended', it.admin.id),
      moved('users', 'invited', it.admin.id),
      `delete from users where id = '${it.admin.id}'`,
    ],
    againstItsLaw,
  ],
  ['changes a role’s permissions', one("update roles set permission_names = 'approve-decision'"), notPermitted],

  ...[gatewayClearing, providerCost, suspense, feeRevenue, openDonationPool].map(
    (account): Attack => [
      `takes money out of the system's account ${account.slice(-1)} by a journal of its own`,
      (it) => {
        const amount = account === openDonationPool ? tooMuch : 1;
        return [journal('mine', `mine/${newId()}`, { [account]: -amount, [it.thief.accountId]: amount })];
      },
      // The pool holds less than that.
      account === openDonationPool ? notCovered : unproven,
    ],
  ),
  ...(
    [
      ['the clearing account', () => gatewayClearing],
      ['the provider cost account', () => providerCost],
      ['suspense', () => suspense],
      ['revenue', () => feeRevenue],
      ['a person’s account', (it: Loot) => it.victim.accountId],
      ['a goal', (it: Loot) => it.goalAccount],
      ['the reserved account of a partner', (it: Loot) => it.partner.reserved],
    ] as const
  ).flatMap(([what, account]): Attack[] => [
    [`pays the pot of a circle out of ${what}`, (it) => circleOver(it, account(it)), unproven],
    [`reserves a payout out of ${what}`, (it) => partnerOver(it, account(it)), unproven],
  ]),
  [
    'debits a person’s account by an arbitrary journal',
    (it) => [journal('mine', `mine/${newId()}`, { [it.victim.accountId]: -1, [it.thief.accountId]: 1 })],
    unproven,
  ],
  [
    'debits a partner’s reserved money',
    (it) => [journal('mine', `mine/${newId()}`, { [it.partner.available]: -1, [it.thief.accountId]: 1 })],
    unproven,
  ],
  [
    'settles an unpaid order',
    (it) => [
      journal('payment-order.settled', `payment-order/${it.open}/settled`, {
        [gatewayClearing]: -54_000,
        [it.victim.accountId]: 50_000,
        [feeRevenue]: 4000,
      }),
    ],
    unproven,
  ],
  [
    'settles an order without a receipt',
    (it) => [
      `update payment_orders set status = 'PAID', finalized_at = now() where id = '${it.open}'`,
      journal('payment-order.settled', `payment-order/${it.open}/settled`, {
        [gatewayClearing]: -54_000,
        [it.victim.accountId]: 50_000,
        [feeRevenue]: 4000,
      }),
    ],
    unproven,
  ],
  ...(
    [
      ['in another amount', (it: Loot) => ({ [gatewayClearing]: -1_054_000, [it.victim.accountId]: 1_050_000 })],
      ['to another account', (it: Loot) => ({ [gatewayClearing]: -54_000, [it.thief.accountId]: 50_000 })],
    ] as const
  ).map(
    ([how, postings]): Attack => [
      `settles an order that was paid ${how}`,
      (it) => [
        receiptOf(it.open),
        `update payment_orders set status = 'PAID', finalized_at = now() where id = '${it.open}'`,
        journal('payment-order.settled', `payment-order/${it.open}/settled`, { ...postings(it), [feeRevenue]: 4000 }),
      ],
      unproven,
    ],
  ),
  [
    'settles an order under another business key',
    (it) => [
      receiptOf(it.open),
      `update payment_orders set status = 'PAID', finalized_at = now() where id = '${it.open}'`,
      journal('payment-order.settled', `payment-order/${it.open}/settled/again`, {
        [gatewayClearing]: -54_000,
        [it.victim.accountId]: 50_000,
        [feeRevenue]: 4000,
      }),
    ],
    unproven,
  ],
  [
    'posts an empty journal under a real business key',
    (it) => [journal('x', `payment-order/${it.open}/settled`, {})],
    unproven,
  ],
  ['adds a receipt to a paid order', (it) => [receiptOf(it.paid)], final],
  [
    'reserves a partner’s money without a payout',
    (it) => [
      journal('partner-payout.reserved', `partner-payout/${newId()}/reserved`, {
        [it.partner.available]: -1,
        [it.thief.accountId]: 1,
      }),
    ],
    unproven,
  ],
  [
    'reverses a successful payout',
    (it) => [
      journal('partner-payout.reversed', `partner-payout/${it.payout}/reversed`, {
        [gatewayClearing]: -100_000,
        [it.partner.available]: 100_000,
      }),
    ],
    unproven,
  ],
  [
    'moves suspense money to an account its owner cannot use',
    (it) => [...decided(it, { account: it.goalAccount }), settle],
    unproven,
  ],
  ['moves suspense money without a decision', one(settle), unproven],
  ['moves suspense money by one person’s decision', (it) => [...decided(it, { approver: null }), settle], unproven],
  [
    'moves suspense money by a decision about something else',
    (it) => [
      `insert into decisions (id, kind, amount, reference, note, evidence, proposed_by)
       values ('${decision}', 'book_external', 5, 'mine', 'ticket 7', '{}', '${it.admin.id}')`,
      `update decisions set approved_by = '${it.second.id}' where id = '${decision}'`,
      settle,
    ],
    unproven,
  ],
  ['proposes as a user without the permission', (it) => decided(it, { proposer: it.thief.id }), unproven],
  ['approves as a user without the permission', (it) => decided(it, { approver: it.thief.id }), unproven],
  ['approves as the proposer', (it) => decided(it, { approver: it.admin.id }), notAllowed],
  [
    'proposes an already approved decision',
    (it) => [
      `insert into decisions (id, kind, amount, reference, note, evidence, proposed_by, approved_by)
       values ('${decision}', 'book_external', 5, 'mine', 'ticket 7', '{}', '${it.admin.id}', '${it.second.id}')`,
    ],
    notPermitted,
  ],
  ['decides without a note', (it) => decided(it, { note: ' . ' }), notAllowed],
  [
    'changes a proposal',
    (it) => [...decided(it), `update decisions set account_id = '${it.victim.accountId}' where id = '${decision}'`],
    notPermitted,
  ],
  [
    'approves an approved decision in another name',
    (it) => [...decided(it), `update decisions set approved_by = '${it.third.id}' where id = '${decision}'`],
    final,
  ],
  [
    'executes a decision again',
    (it) => [...decided(it), settle, `update decisions set status = 'pending' where id = '${decision}'`],
    againstItsLaw,
  ],
  ['deletes a decision', (it) => [...decided(it), `delete from decisions where id = '${decision}'`], notPermitted],
  [
    'records a platform transfer booked by one person',
    (it) => [
      `insert into decisions (id, kind, amount, reference, note, evidence, proposed_by)
       values ('${decision}', 'book_external', 5, 'mine', 'ticket 7', '{}', '${it.admin.id}')`,
      `update decisions set status = 'carried_out' where id = '${decision}'`,
    ],
    unproven,
  ],
  [
    'marks a decision as executed without its effect',
    (it) => [...decided(it), `update decisions set status = 'carried_out' where id = '${decision}'`],
    unproven,
  ],
  [
    'settles a payout by a decision against the provider’s final status',
    (it) => [
      `update payouts set last_word = 'succeeded', last_word_at = now() where id = '${it.waiting}'`,
      `insert into decisions (id, kind, payout_id, outcome, note, evidence, proposed_by)
       values ('${decision}', 'settle_payout', '${it.waiting}', 'failed', 'ticket 7', '{}', '${it.admin.id}')`,
      `update decisions set approved_by = '${it.second.id}' where id = '${decision}'`,
      `update payouts set status = 'failed', failure_code = 'MINE', finalized_at = now() where id = '${it.waiting}'`,
    ],
    unproven,
  ],
  ...['succeeded', 'failed'].map(
    (status): Attack => [
      `settles a payout as ${status} without the provider or two people`,
      (it) => [
        `update payouts set status = '${status}', failure_code = ${status === 'failed' ? "'MINE'" : 'null'},
           finalized_at = now() where id = '${it.waiting}'`,
      ],
      unproven,
    ],
  ),
  [
    'posts a negative amount to suspense',
    one(`select suspend_receipt('${newId()}', '${newId()}', 'x', 'x', 'x', -5, 0, 'late', 'xendit')`),
    unproven,
  ],
  [
    'records a provider cost above the amount',
    one(`select suspend_receipt('${newId()}', '${newId()}', 'x', 'x', 'x', 5, 6, 'late', 'xendit')`),
    unproven,
  ],
  ['pays a negative amount', (it) => [payFromBalance(it, { amount: -5 })], unproven],
  ['pays zero', (it) => [payFromBalance(it, { amount: 0 })], unproven],
  ['pays from a balance into suspense', (it) => [payFromBalance(it, { target: suspense })], unproven],
  ['pays from a balance to a partner', (it) => [payFromBalance(it, { target: it.partner.available })], unproven],
  [
    'pays from a balance as another kind of journal',
    (it) => [payFromBalance(it, { kind: 'receipt.credited' })],
    unproven,
  ],
  ['pays NaN', (it) => [payFromBalance(it, { amount: 'NaN' })], notPaid],
  ['pays infinity', (it) => [payFromBalance(it, { amount: 'Infinity' })], notPaid],
  [
    'posts NaN to suspense',
    one(`select suspend_receipt('${newId()}', '${newId()}', 'x', 'x', 'x', 'NaN', 'NaN', 'late', 'xendit')`),
    '23514',
  ],
  [
    'pays from an account that has no balance yet',
    (it) => {
      const source = newId();
      // The balance is created when the statement that creates the account completes.
      const paid = payFromBalance(it, { user: it.thief.id, source, amount: tooMuch }).replace(
        /'(\[.*?\])'/,
        `jsonb_set('$1', '{0,source_account_id}', to_jsonb(made.id))`,
      );
      return [
        `with made as (insert into accounts (id, name, kind, user_id)
           values ('${source}', 'Mine', 'user', '${it.thief.id}') returning id)
         select paid.* from made, lateral (${paid}) paid`,
      ];
    },
    notPaid,
  ],
  ['pays more than the balance', (it) => [payFromBalance(it, { amount: tooMuch })], notPaid],
  [
    'adds a transaction to an earlier journal',
    one("select record_transactions((select id from journals order by created_at limit 1), '[]')"),
    unproven,
  ],
  ['sends a payout that is final', (it) => [`select open_payout_attempt('${it.payout}')`], final],
  ['answers an attempt twice', (it) => [`select answer_payout_attempt('${it.payout}', 1, 'unsent', null)`], final],
  [
    'completes an attempt in the future',
    (it) => [`select close_payout_attempt('${it.payout}', 1, now() + interval '1 hour')`],
    final,
  ],
  ...(
    [
      ['read_events', '89 days'],
      ['callback_bodies', '29 days'],
      ['webhook_bodies', '29 days'],
      ['requests', '29 days'],
      ['payout_tallies', '1 day'],
      ['known_logins', '1 day'],
      ['token_signing_keys', '1 day'],
      ['revoked_tokens', '0'],
      ['sign_ups', '1 minute'],
      ['login_failures', '1 minute'],
      ['read_events', '-90 days'],
      ['read_events', null],
      ['events', '100 years'],
      ['journals', '100 years'],
    ] as const
  ).map(
    ([kind, age]): Attack => [
      `deletes ${kind} of ${age ?? 'no age'}`,
      one(`select forget_rows('${kind}', ${age === null ? 'null' : `'${age}'`}, 100)`),
      tooSoon,
    ],
  ),
  [
    'redirects others’ payments to its own account',
    (it) => [`update payment_orders set payment_code = 'mine' where id = '${it.open}'`],
    final,
  ],
  [
    'clears the provider’s id of a paid order',
    (it) => [`update payment_orders set provider_payment_method_id = null where id = '${it.paid}'`],
    final,
  ],
  [
    'pays from a balance read before the lock',
    (it) => ['set transaction isolation level repeatable read', payFromBalance(it, {})],
    unproven,
  ],
  [
    'frees a used idempotency key',
    (it) => [
      `insert into requests (owner_id, key_hash, fingerprint, resource_id, made)
       values ('${it.victim.id}', 'attack', 'f', '${it.paid}', 1)`,
      "update requests set made = null where key_hash = 'attack'",
    ],
    final,
  ],
  [
    'sets a target to NaN',
    (it) => [`update saving_goals set target_amount = 'NaN' where user_id = '${it.victim.id}'`],
    '23514',
  ],
  [
    'seals future journals',
    one(
      `select write_seal((select coalesce(max(number), 0) + 1 from seals), 'x', 'x', 'x', now(), '2099-01-01', '{}')`,
    ),
    unproven,
  ],
  [
    'seals at a future time',
    one(
      `select write_seal((select coalesce(max(number), 0) + 1 from seals), 'x', 'x', 'x', '2099-01-01', '2099-01-01', '{}')`,
    ),
    unproven,
  ],
  [
    'extends the life of a token key',
    one(
      "update token_signing_keys set published_until = now(); update token_signing_keys set published_until = '2099-01-01'",
    ),
    final,
  ],
  [
    'expires a token key in the past to insert it again',
    one("update token_signing_keys set published_until = now() - interval '31 days'"),
    final,
  ],
  [
    'inserts an expired token key',
    one(
      "insert into token_signing_keys (id, public_jwk, private_key_sealed, published_until) values ('k', '{}', 'x', '2000-01-01')",
    ),
    final,
  ],
  [
    'pre-empts a token’s revocation by an expired row',
    () => [
      "insert into revoked_tokens (id, expires_at) values ('t', '2000-01-02')",
      "select 1 / forget_rows('revoked_tokens', '1 day', 100)",
    ],
    notPaid,
  ],
  ...(['partner', 'clearing'] as const).flatMap((whose): Attack[] => {
    const accountOf = (it: Loot) => (whose === 'partner' ? it.partner.available : gatewayClearing);
    return [
      [
        `pays the pot of a circle to the ${whose} account`,
        (it) => [
          `insert into saving_circle_members (id, saving_circle_id, account_id, user_id, turn_number)
           values ('${newId()}', '${newId()}', '${accountOf(it)}', '${it.victim.id}', 1)`,
        ],
        unproven,
      ],
      [
        `refunds a contribution to the ${whose} account`,
        (it) => [
          `insert into saving_circle_contributions (id, saving_circle_id, member_id, user_id, turn_number, amount, rail,
             status, refund_account_id) values ('${newId()}', '${newId()}', '${newId()}', '${it.victim.id}', 1, 5,
             'balance', 'pending', '${accountOf(it)}')`,
        ],
        unproven,
      ],
      [`refunds a donation to the ${whose} account`, (it) => refundOfDonation(it, accountOf(it)), unproven],
      [
        `directs donations to the ${whose} account`,
        (it) => [
          `insert into charitable_causes (id, name, description, target_amount, regulations, benefit, owner_type,
             account_id, status, created_by) values ('${newId()}', 'c', 'c', 5, 'r', 'b', 'individual',
             '${accountOf(it)}', 'pending', '${it.thief.id}')`,
        ],
        unproven,
      ],
      [
        `directs an order to the ${whose} account`,
        (it) => [
          `insert into payment_orders (id, user_id, reference_type, reference_id, target_account_id, payment_id, nominal,
             admin_fee, status, expires_at, created_at, updated_at) values ('${newId()}', '${it.thief.id}',
             'account_top_up', '${newId()}', '${accountOf(it)}', 1, 5, 0, 'PENDING', now(), now(), now())`,
        ],
        unproven,
      ],
    ];
  }),
  [
    'posts a journal based on a stale read',
    (it) => [
      'set transaction isolation level repeatable read',
      journal('partner-payout.reserved', `partner-payout/${it.payout}/reserved`, { [it.partner.available]: -5 }),
    ],
    unproven,
  ],
  ...['infinity', '-infinity', '294276-12-31 23:59:59'].map(
    (instant): Attack => [
      `disables checks and alarms by an impossible time (${instant})`,
      (it) => [set('payouts', `finalized_at = '${instant}'`, it.payout)],
      notAllowed,
    ],
  ),
  [
    'disables the alarms of subscriptions by an impossible number of periods',
    (it) => [
      `insert into donation_subscriptions (id, user_id, cause_id, amount, source_account_id, interval, status, started_at,
         periods_paid) values ('${newId()}', '${it.thief.id}', '${newId()}', 5, '${it.thief.accountId}', 'monthly',
         'active', now(), 2147483647)`,
    ],
    // That period would be due at a time that PostgreSQL cannot represent.
    '22008',
  ],
  [
    'disables the alarms of circles by an infinite start',
    (it) => {
      const [circle, holding] = [newId(), newId()];
      return [
        `insert into accounts (id, name, kind, owner_id) values ('${holding}', 'h', 'circle_holding', '${circle}')`,
        `insert into saving_circles (id, name, account_id, holding_account_id, owner_type, owner_id, created_by, capacity,
           amount, visibility, round_interval, turn_order, start_date, starts_at) values ('${circle}', 'c',
           '${it.thief.accountId}', '${holding}', 'individual', '${it.thief.id}', '${it.thief.id}', 2, 5, 'public',
           'daily', 'joining', 'x', now())`,
      ];
    },
    noTime,
  ],
  [
    'books a transfer of the platform without a decision',
    one(`select book_external('${newId()}', '${newId()}')`),
    unproven,
  ],
  ['deletes all expired rows at once', one("select forget_rows('read_events', '90 days', 1000000000)"), tooSoon],
];

const moved = (table: string, status: string, id: string) => set(table, `status = '${status}'`, id);
const set = (table: string, what: string, id: string) => `update ${table} set ${what} where id = '${id}'`;
const receiptOf = (orderId: string) =>
  `select apply_receipt('${newId()}', '${newId()}', '${newId()}', 'x', '${orderId}', null)`;

/** A circle of the thief that holds an account, and a forged refund of a contribution to it. */
function refundOfCircle({ thief }: Loot, holding: string): string[] {
  const [circle, member, contribution] = [newId(), newId(), newId()];
  return [
    `insert into saving_circles (id, name, account_id, holding_account_id, owner_type, owner_id, created_by, capacity,
       amount, visibility, round_interval, turn_order, start_date, starts_at)
     values ('${circle}', 'Mine', '${thief.accountId}', '${holding}', 'individual', '${thief.id}', '${thief.id}', 2,
       100, 'private', 'monthly', 'joining', '2026-01-01', now())`,
    `insert into saving_circle_members (id, saving_circle_id, account_id, user_id)
     values ('${member}', '${circle}', '${thief.accountId}', '${thief.id}')`,
    `insert into saving_circle_rounds (saving_circle_id, turn_number, receiver_member_id, opened_at, due_at)
     values ('${circle}', 1, '${member}', now(), now())`,
    `insert into saving_circle_contributions (id, saving_circle_id, member_id, user_id, turn_number, amount, rail, status,
       refund_account_id)
     values ('${contribution}', '${circle}', '${member}', '${thief.id}', 1, 100, 'balance', 'pending', '${thief.accountId}')`,
    journal('saving-circle.contribution-refunded', `saving-circle-contribution/${contribution}/refunded`, {
      [holding]: -100,
      [thief.accountId]: 100,
    }),
  ];
}

/** A donation to a cause of the victim, as if paid from this account by a line of another payment, and its refund. */
function refundOfDonation(it: Loot, account: string): string[] {
  const [cause, donation, line, journalId] = [newId(), newId(), newId(), newId()];
  const { thief, victim } = it;
  const added = JSON.stringify([
    {
      id: line,
      user_id: thief.id,
      amount: 5,
      status: 'successful',
      type: 'price',
      source_account_id: account,
      destination_account_id: victim.accountId,
      reference_type: 'donation',
      reference_id: cause,
      purpose: 'product_transfer',
    },
  ]);
  return [
    payFromBalance(it, { journalId }),
    `select record_transactions('${journalId}', '${added}')`,
    `insert into charitable_causes (id, name, description, target_amount, regulations, benefit, owner_type, account_id,
       status, created_by) values ('${cause}', 'c', 'c', 5, 'r', 'b', 'individual', '${victim.accountId}', 'pending',
       '${thief.id}')`,
    `insert into donations (id, user_id, type, amount, status, cause_id, transaction_id)
     values ('${donation}', '${thief.id}', 'specific', 5, 'completed', '${cause}', '${line}')`,
    `update donations set status = 'refunded', refund_transaction_id = '${newId()}' where id = '${donation}'`,
    journal('donation.refunded', `donation/${donation}/refunded`, { [victim.accountId]: -5, [account]: 5 }),
  ];
}

/** A partner of the thief with these accounts, and a payout that reserves from one to the other. */
function reservationOf(
  { thief }: Loot,
  accounts: { available?: string; pending?: string; reserved?: string },
): string[] {
  const { available = newId(), pending = newId(), reserved = thief.accountId } = accounts;
  const [partner, payout] = [newId(), newId()];
  const open = (account: string, kind: string) =>
    `insert into accounts (id, name, kind, owner_id) values ('${account}', 'Mine', '${kind}', '${partner}')
     on conflict do nothing`;
  return [
    open(available, 'partner_available'),
    open(pending, 'partner_pending'),
    `insert into partners (id, name, organization_id, fee_mode, available_account_id, pending_account_id, reserved_account_id)
     select '${partner}', 'Mine', organization_id, 'DEDUCTED', '${available}', '${pending}', '${reserved}'
     from partners limit 1`,
    `insert into payouts (id, kind, source_account_id, reserved_account_id, partner_id, reference, fee_mode, amount, fee,
       net_amount, bank_code, texts_sealed, status, created_at, updated_at)
     values ('${payout}', 'partner_payout', '${available}', '${reserved}', '${partner}', 'PO-MINE', 'DEDUCTED', 100, 0, 100, 'BCA', 'x', 'pending', now(), now())`,
    journal('partner-payout.reserved', `partner-payout/${payout}/reserved`, { [available]: -100, [reserved]: 100 }),
  ];
}

const url = (role: string): string => loot.urls[role as keyof Loot['urls']];

/** The reader is refused all these statements for lack of rights on the same tables, so a few suffice. */
const aFew = (_: Attack, index: number): boolean => index % 8 === 0;

describe.each(['app', 'reader'])('An attacker with the password of the %s', (role) => {
  it.each(role === 'app' ? ofTheOwner : casesOf(ofTheOwner, aFew))(
    'An attacker with a database password never %s',
    async (_, statements, refusal) => {
      expect(await attempt(url(role), ...statements(loot))).toBe(refusal);
    },
  );
});

describe('An attacker with the application’s password', () => {
  it.each(ofTheApplication)('An attacker with the application’s password never %s', async (_, statements, refusal) => {
    expect(await attempt(loot.urls.app, ...statements(loot))).toBe(refusal);
  });

  it('An attacker with the application’s password never extends a journal posted at the same instant', async () => {
    const client = new pg.Client({ connectionString: loot.urls.app });
    await client.connect();
    try {
      const id = newId();
      const row = { id: newId(), user_id: loot.victim.id, amount: 1, status: 'successful', type: 'tax' };
      const account = loot.victim.accountId;
      const rest = { source_account_id: account, reference_type: 'account_top_up', reference_id: account };
      const added = JSON.stringify([{ ...row, ...rest, purpose: 'pocket_transfer' }]);
      // Both transactions are in one message, and so start at one instant.
      const statements = [
        'begin',
        payFromBalance(loot, { journalId: id }),
        'commit',
        'begin',
        `select record_transactions('${id}', '${added}')`,
      ];
      await expect(client.query(statements.join('; '))).rejects.toMatchObject({ code: unproven });
    } finally {
      await client.query('rollback');
      await client.end();
    }
  });

  it('A journal’s transactions can be recorded in another subtransaction than the one that posted it', async () => {
    const id = newId();
    const recorded = `select record_transactions('${id}', '[]')`;
    const parts = ['savepoint a', payFromBalance(loot, { journalId: id }), 'release a', 'savepoint b', recorded];
    expect(await attempt(loot.urls.app, ...parts)).toBe('nothing refused it');
  });

  it('An attacker with the application’s password never deletes rows early by changing the time zone', async () => {
    const client = new pg.Client({ connectionString: loot.urls.app });
    await client.connect();
    try {
      await client.query('begin');
      await client.query('set local transaction_timeout = 0');
      await client.query(
        "insert into revoked_tokens (id, expires_at) values ('mine', clock_timestamp() + interval '5 days')",
      );
      for (let day = 1; day <= 365; day += 2) {
        await client.query(`set local timezone = '<AAA>167<BBB>-162,J${day}/0,J${((day + 120) % 365) + 1}/0'`);
        await client.query("select forget_rows('revoked_tokens', '1 day', 100)");
      }
      const { rowCount } = await client.query("select 1 from revoked_tokens where id = 'mine'");
      expect(rowCount).toBe(1);
    } finally {
      await client.query('rollback');
      await client.end();
    }
  });

  it('An attacker with the application’s password never posts a journal or settles suspense money twice', async () => {
    const client = new pg.Client({ connectionString: loot.urls.app });
    await client.connect();
    try {
      await client.query('begin');
      // Two decisions about the same money.
      for (const [id, settled] of [
        [decision, true],
        [newId(), false],
      ] as const) {
        for (const statement of decided(loot)) await client.query(statement.replaceAll(decision, id));
        const { rows } = await client.query(`select settle_receipt('${newId()}', '${id}')`);
        expect(rows).toEqual([{ settle_receipt: settled }]);
      }
      const again = journal('payment-order.settled', `payment-order/${loot.paid}/settled`, {
        [gatewayClearing]: -tooMuch,
        [loot.thief.accountId]: tooMuch,
      });
      expect((await client.query(again)).rows).toEqual([{ post_journal: false }]);
    } finally {
      await client.query('rollback');
      await client.end();
    }
  });
});

describe('An attacker with the reader’s password', () => {
  it.each(casesOf(ofTheApplication, aFew))('An attacker with the reader’s password never %s', async (_, statements) => {
    expect(await attempt(loot.urls.reader, ...statements(loot))).toBe(notPermitted);
  });

  it('An attacker with the reader’s password never writes to any table', async () => {
    const tables = await loot.stack
      .owner()
      .execute<{ name: string }[]>(
        "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')",
      );
    for (const { name } of tables) {
      expect([name, await attempt(loot.urls.reader, `insert into "${name}" default values`)]).toEqual([
        name,
        notPermitted,
      ]);
      expect([name, await attempt(loot.urls.reader, `delete from "${name}"`)]).toEqual([name, notPermitted]);
    }
  });

  it.each([
    'select password_sealed from users',
    'select profile_sealed, email_digest from users',
    'select * from users',
    'select token_hash from invitations',
    'select key_hash, signing_secret_sealed from partner_keys',
    'select secret_sealed from second_factors',
    'select code_hash from recovery_codes',
    'select private_key_sealed from token_signing_keys',
    'select secret_sealed from webhook_endpoints',
    'select details_sealed from addresses',
    'select texts_sealed from payouts',
    'select body_sealed from gateway_callbacks',
    'select answer_body from requests',
    'select fingerprint, answer_sealed from requests',
    'select request_digest from payouts',
  ])('An attacker with the reader’s password never reads a secret: %s', async (sql) => {
    expect(await attempt(loot.urls.reader, sql)).toBe(notPermitted);
  });
});

describe('Temporary tables', () => {
  // Only the owner may create a temporary table; the functions must not use it.
  it('Functions never read a balance from a temporary table, where one can be created', async () => {
    const shadows = [
      'create temporary table account_balances (account_id uuid, shard smallint, balance numeric, primary key (account_id, shard))',
      `insert into account_balances values ('${loot.victim.accountId}', 0, ${tooMuch})`,
      'create temporary table accounts as select * from public.accounts',
      'update accounts set may_go_negative = true',
      'set search_path = pg_temp, public',
    ];
    expect(await attempt(loot.urls.owner, ...shadows, payFromBalance(loot, { amount: tooMuch }))).toBe(notPaid);
  });
});

it('The public role has no privileges on the database', async () => {
  const rows = await loot.stack
    .owner()
    .execute("select has_database_privilege('public', current_database(), 'CONNECT, TEMPORARY, CREATE') as open");
  expect(rows).toEqual([{ open: false }]);
});
