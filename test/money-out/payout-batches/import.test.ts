import { freshKey } from '../../support/partner.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { buildPayer, magicAccount } from '../payouts/build-payouts.ts';
import { batchWhen, buildSecondKey, itemsOfBatch } from './build-batches.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const head = 'external_ref,amount,bank_code,bank_account_number,beneficiary_name';
const row = (reference: string) => `${reference},20000,BRI,${magicAccount('200001')},"Budi, Santoso"`;

/** Uploads a file as a form does. */
async function send(
  path: string,
  file: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
  reference = '',
) {
  const form = new FormData();
  form.append('file', new File([file], 'payroll.csv', { type: 'text/csv' }));
  form.append('external_ref', reference);
  return fetch(`${stack.url}${path}`, { method: 'POST', body: form, headers, redirect: 'manual' });
}

const messageOf = async (answer: Response) => ((await answer.json()) as { message: unknown }).message;

it('An imported batch is created once per Idempotency-Key and approved with the partner’s API key', async () => {
  const partner = await buildPayer(stack);
  const approve = await buildSecondKey(stack, partner);
  const path = `/v1/partner-accounts/${partner.id}/payout-batches`;
  const headers = { authorization: `Bearer ${partner.admin.token}`, 'idempotency-key': freshKey() };
  // The format of spreadsheets in Indonesia: byte order mark, semicolons and empty lines.
  const file = `\uFEFF${[head, row('first'), '', row('second')].join('\r\n').replaceAll(/,(?! )/g, ';')}\r\n;;;;\r\n`;
  const made = await send(path, file, headers, 'payroll-1');
  const text = await made.text();
  expect([made.status, text]).toEqual([201, expect.stringContaining('needs_approval')]);
  const { data } = JSON.parse(text);
  expect(data).toMatchObject({ count: 2, total_amount: '40000.0000', external_ref: 'payroll-1' });
  const again = await send(path, file, headers, 'payroll-1');
  expect([await again.text(), again.headers.get('idempotency-replayed')]).toEqual([text, 'true']);
  expect(await messageOf(await send(path, `${file}more`, headers))).toMatch(/^Idempotency-Key: /);
  expect((await partner.get('/payout-batches')).body.data.total).toBe(1);
  expect(await itemsOfBatch(partner, data.id)).toMatchObject([
    { external_ref: 'first', beneficiary_name: 'Budi, Santoso' },
    { external_ref: 'second' },
  ]);
  expect(await approve(`/payout-batches/${data.id}/approve`)).toMatchObject({ status: 200 });
  await batchWhen(partner, data.id, 'completed');
}, 60_000);

it('A batch import reports every error with its line, in the API and in the console', async () => {
  const partner = await buildPayer(stack);
  const path = `/v1/partner-accounts/${partner.id}/payout-batches`;
  const headers = { authorization: `Bearer ${partner.admin.token}` };
  const wrong = [
    head,
    row('first'),
    '"second",50.000,bri,1,',
    '',
    row('first'),
    ',20000,BRI,1,x',
    `${row('last')},more`,
  ].join('\n');
  const complaints = [
    'line 3.amount: has three decimals: a point separates decimals, and fifty thousand is 50000',
    'line 3.bank_code: no supported bank has this code: write BRI',
    'line 5.external_ref: is already the reference of line 2',
    'line 6.external_ref: is required',
    'line 6.bank_account_number: an account at BRI has 13 to 17 digits',
    'line 7 has 6 cells for 5 columns',
  ];
  const answer = await send(path, wrong, headers);
  expect([answer.status, await messageOf(answer)]).toEqual([400, complaints]);
  const cookie = { cookie: `access_token=${partner.admin.token}`, origin: new URL(stack.url).origin };
  const page = await send(`/operations/partners/${partner.id}/import?key=${freshKey()}`, wrong, cookie);
  const shown = await page.text();
  expect([page.status, complaints.filter((complaint) => !shown.includes(complaint))]).toEqual([400, []]);
  const ofFile: [string | Uint8Array<ArrayBuffer>, RegExp][] = [
    ['external_ref,amount,bank,bank_code\n', /lacks bank_account_number, has bank$/],
    [head, /must have 1 to 1,000 payouts, and has none/],
    [`${head}\n"open`, /not well-formed CSV near line 2/],
    [new Uint8Array([0x61, 0xff]), /UTF-8/],
  ];
  const unlike: unknown[] = [];
  for (const [file, complaint] of ofFile) {
    const message = await messageOf(await send(path, file, headers));
    if (!complaint.test(String(message))) unlike.push({ complaint, message });
  }
  expect(unlike).toEqual([]);
  expect((await partner.get('/payout-batches')).body.data.total).toBe(0);
  const made = await send(
    `/operations/partners/${partner.id}/import?key=${freshKey()}`,
    [head, row('first')].join('\n'),
    cookie,
  );
  expect([made.status, made.headers.get('location')]).toEqual([
    303,
    expect.stringMatching(/^\/operations\/batches\/[0-9a-f-]{36}$/),
  ]);
});
