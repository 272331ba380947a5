import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { generateSync } from 'otplib';
import { emptyRows } from '../../../src/control/erasure/empty-rows.ts';
import { reconcileDay } from '../../../src/control/reconciliation/reconcile-day.ts';
import { User } from '../../../src/people/members/user.entity.ts';
import { westernIndonesiaDay } from '../../../src/shared/clock.ts';
import { newId } from '../../../src/shared/ids.ts';
import { ageAttempts, buildPayer, magicAccount, pay } from '../../money-out/payouts/build-payouts.ts';
import { type BuiltUser, buildIndividual } from '../../support/build.ts';
import { buildActiveCause } from '../../support/build-targets.ts';
import { buildOperators, decide } from '../../support/decide.ts';
import { operatorsDocuments } from '../../support/operators-documents.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** Runs the runbook's commands exactly as written, against a stack in which their cases have been set up. */
const root = join(import.meta.dirname, '..', '..', '..');
interface Typed {
  place: string;
  language: 'sh' | 'sql';
  text: string;
}

/** Returns the contents of fenced blocks, and, once each, inline code that starts like a command. */
function commandsOf({ path, text: document }: { path: string; text: string }, found: Typed[]): Typed[] {
  const lines = document.split('\n');
  let block: Typed | null = null;
  for (const [index, line] of lines.entries()) {
    const [, language] = /^\s*```(sh|sql)$/.exec(line) ?? [];
    const place = `${path}:${index + 1}`;
    if (language === 'sh' || language === 'sql') block = { place, language, text: '' };
    else if (line.trim() === '```' && block !== null) {
      found.push(block);
      block = null;
    } else if (block !== null) block.text += `${line}\n`;
    else {
      for (const [, text = ''] of line.matchAll(/`((?:npm run|aws|echo|kubectl|docker compose) [^`]*)`/g)) {
        const isNew = !text.includes('…') && !found.some((one) => one.text === text);
        if (isNew) found.push({ place, language: 'sh', text });
      }
    }
  }
  return found;
}

/** Commands that are not run here, and why. */
const notHere: [RegExp, string][] = [
  [/^aws s3/, 'needs the versions of a real S3'],
  [/^\s*(docker compose|kubectl) /, 'needs containers'],
  [/^npm run migrate$/, 'needs the owner; migrations have tests of their own'],
  [/^npm run archive/, 'needs the owner; archives have tests of their own'],
  [/^npm run sql$/, 'runs every query of the runbook'],
  [/^openssl s_client/, 'needs the certificate of a real address'],
  [/^\s*delete from sweep_looks/, 'needs the owner, which `npm run sql` is not'],
  [/^npm run drill$/, 'has a test of its own'],
  [/worker deployment/, 'needs workers with a version; the torture has that fault'],
];

let stack: Stack;
/** The values of the placeholders in angle brackets. */
let filledIn: Record<string, string>;
let environment: Record<string, string>;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true, env: { PAYOUT_RESEND_HOURS: '0' } });
  const [first, second] = [await buildOperators(stack), await buildOperators(stack)];
  const [partner, other] = [await buildPayer(stack), await buildPayer(stack)];
  const payer = await buildIndividual(stack);
  const [stuck, wrong] = [
    await pay(partner, { bank_account_number: magicAccount('900004') }),
    await pay(partner, { bank_account_number: magicAccount('900004') }),
  ];
  for (const { id } of [stuck, wrong]) {
    await eventually(
      () => stack.em().execute<unknown[]>('select 1 from payouts where id = ? and unknown_since is not null', [id]),
      (rows) => rows.length === 1,
    );
    await ageAttempts(stack, id, 2);
  }
  // A payout that has succeeded in our books and is unknown to the provider.
  await decide(stack, second, { kind: 'settle_payout', payout_id: wrong.id, outcome: 'succeeded' });
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
  const { data: order } = (await stack.post('/v1/payments/gateway', body, { token: payer.token })).body;
  await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code, amount: 1_000 });
  const [receipt] = await eventually(
    () => stack.em().execute<{ id: string }[]>("select id from receipts where state = 'suspended'"),
    (rows) => rows.length === 1,
  );
  const day = westernIndonesiaDay(new Date());
  const failed = () => undefined;
  await reconcileDay(stack.em(), { ...stack.deps, failed }, { day, takenBy: newId() });
  const [difference] = await stack
    .em()
    .execute<{ id: string }[]>('select id from reconciliations where resource_id = ?', [wrong.id]);
  const [journal] = await stack.em().execute<{ id: string }[]>('select id from journals limit 1');
  filledIn = {
    'payout id': stuck.id,
    'day of the payout': day,
    day,
    'difference id': difference?.id ?? '',
    'receipt id': receipt?.id ?? '',
    'account id': payer.accountId,
    reference: order.payment_order_id,
    'order id': order.payment_order_id,
    'resource id': order.payment_order_id,
    'user id': payer.id,
    'cause id': (await buildActiveCause(stack)).id,
    'partner id': other.id,
    'organization id': other.organizationId,
    'person id': (await buildIndividual(stack)).id,
    address: (await buildWithSecondFactor()).email,
    'journal id': journal?.id ?? '',
    'account of the erased': await buildErasedWithMoney(),
    'transfer at the provider': newId(),
  };
  // Two users with every permission.
  environment = { AMANAH_URL: stack.url, TOKEN: second.approver.token, TOKEN_OF_ANOTHER: first.approver.token };
}, 120_000);
afterAll(() => stack.stop());

/** Builds the account of a person who received money after their erasure. */
async function buildErasedWithMoney(): Promise<string> {
  const { id, accountId } = await buildIndividual(stack, { balance: '500000' });
  await stack.em().transactional(async (tx) => emptyRows(tx, await tx.findOneOrFail(User, id)));
  return accountId;
}

/** Builds a user who has lost a phone. */
async function buildWithSecondFactor(): Promise<BuiltUser> {
  const person = await buildIndividual(stack);
  const { body } = await stack.post('/v1/auth/totp', undefined, { token: person.token });
  const code = generateSync({ secret: body.data.secret });
  expect(await stack.post('/v1/auth/totp/confirm', { code }, { token: person.token })).toMatchObject({ status: 200 });
  return person;
}

/** Runs a command as written in the runbook; returns the result. */
async function type({ language, text }: Typed): Promise<{ code: number; printed: string; output: string }> {
  const filled = text
    .replaceAll(/<([a-z ]+)>/g, (whole, name: string) => filledIn[name] ?? whole)
    // The runbook names the deployment's task queue.
    .replaceAll(/(--task-queue |schedule-id )payments/g, `$1${stack.deps.workflows.taskQueue}`);
  expect(filled).not.toMatch(/<[a-z ]+>/);
  return new Promise((resolve) => {
    const child = execFile(
      'bash',
      ['-euo', 'pipefail', '-c', language === 'sh' ? filled : 'npm run -s sql'],
      { cwd: root, env: { ...process.env, ...stack.env, ...environment }, timeout: 60_000 },
      (error, stdout, stderr) =>
        resolve({
          code: error === null ? 0 : Number(error.code ?? -1),
          printed: stdout,
          output: `${stdout}\n${stderr}`,
        }),
    );
    // A command that does not read its input may have exited.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(language === 'sql' ? filled : '');
  });
}

const commands = operatorsDocuments.reduce<Typed[]>((found, document) => commandsOf(document, found), []);
const isRunHere = ({ text }: Typed): boolean => !notHere.some(([pattern]) => pattern.test(text));

describe('The runbook', () => {
  it('The runbook has commands to run, and one for each listed reason not to run it', () => {
    expect(commands.length).toBeGreaterThan(25);
    for (const [pattern] of notHere) expect(commands.filter(({ text }) => pattern.test(text))).not.toEqual([]);
  });

  it.each(commands.filter(isRunHere).map((typed): [string, string, Typed] => [typed.place, typed.text.trim(), typed]))(
    'The runbook’s command in %s works exactly as written: %s',
    async (_, text, typed) => {
      const { code, printed, output } = await type(typed);
      // The comparison reports a difference, and therefore exits with 1.
      expect({ code, output }).toEqual({ code: text.startsWith('npm run reconcile') ? 1 : 0, output });
      const { kind, id } = decisionIn(printed) ?? {};
      if (kind !== undefined) filledIn['decision id'] = id ?? '';
      if (text.includes('PaymentState = "SUSPENSE"')) expect(output).toContain(filledIn['receipt id']);
      if (text.includes('workflow metadata')) expect(output).toContain('OUTCOME UNKNOWN');
      if (text.includes('/approve')) expect(output).toContain('"status":"carried_out"');
      if (text.includes('from payout_words')) expect(output).toContain('silent');
      if (text.includes("where state = 'suspended'")) expect(output).toContain(filledIn.reference);
      await expectChecksEmpty(stack);
    },
    90_000,
  );
});

/** Returns the data of the answer, if there is one; only a decision has a kind. */
function decisionIn(printed: string): { kind?: string; id?: string } | undefined {
  const line = printed.split('\n').find((one) => one.startsWith('{"message"'));
  return line === undefined ? undefined : JSON.parse(line).data;
}
