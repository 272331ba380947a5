import { newId } from '../../../src/shared/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { mailsTo } from '../../support/mail.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';

describe('A worker killed while it sends a mail', () => {
  let stack: ProcessStack;
  beforeAll(async () => {
    stack = await startProcessStack();
  });
  afterAll(() => stack?.stop());

  it.each([
    ['before it is sent', 'deliver-mail.before', 1],
    ['before it is marked as sent', 'deliver-mail.sent', 2],
  ] as const)('(%s) loses none, and sends it again at most under the same Message-ID', async (_, failpoint, sent) => {
    stack.arm(`${failpoint}=kill`);
    const email = `${newId()}@example.org`;
    const body = { name: 'Sari', email, password: 'correct horse battery' };
    const { id } = (await stack.post('/v1/auth/signup', body)).body.data;
    await stack.worker.exited;
    expect(await mailsTo(stack, email)).toHaveLength(sent - 1);
    await stack.restart();
    // What the dead worker had claimed is due a minute later.
    await stack
      .owner()
      .execute('delete from sweep_looks where subject_id in (select id from mails where user_id = ?)', [id]);
    await eventually(
      () => stack.em().execute<{ status: string }[]>('select status from mails where user_id = ?', [id]),
      ([row]) => row?.status === 'sent',
    );
    const mails = await mailsTo(stack, email);
    expect(mails).toHaveLength(sent);
    expect(new Set(mails.map(({ id }) => id)).size).toBe(1);
  });
});
