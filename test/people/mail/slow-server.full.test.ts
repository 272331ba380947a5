import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { keepMailSent } from '../../../src/people/mail/keep-mail-sent.ts';
import { recordMail } from '../../../src/people/mail/record-mail.ts';
import { buildIndividual } from '../../support/build.ts';
import { eventually, startStack } from '../../support/stack.ts';

it('A mail is sent once even if the server takes longer than the sender’s claim lasts', async () => {
  await using stack = await startStack({ own: true, sandbox: true });
  const { id: userId } = await buildIndividual(stack);
  let talks = 0;
  let received = 0;
  // The server is never silent long enough to time out.
  const server = createServer((socket) => {
    talks += 1;
    let isText = false;
    socket
      .on('error', () => undefined)
      .on('close', () => {
        talks -= 1;
      });
    socket.write('220 slow\r\n');
    createInterface(socket).on('line', async (line) => {
      if (isText && line !== '.') return;
      if (isText) received += 1;
      if (/^EHLO/.test(line)) {
        for (let said = 0; said < 9; said += 1) {
          socket.write('250-wait\r\n');
          await sleep(8_000);
        }
      }
      isText = line === 'DATA';
      socket.write(isText ? '354 go on\r\n' : '250 ok\r\n');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { orm, sealer, metrics, log } = stack.deps;
  const config = { ...stack.deps.config, SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'no-reply@amanah.example' };
  await stack.em().transactional((tx) => recordMail(tx, stack.deps.sealer, { userId, kind: 'password_changed' }));
  {
    await using _sending = keepMailSent({ config, orm, sealer, metrics, log });
    await eventually(
      async () => ({ received, talks }),
      (now) => now.received > 0 && now.talks === 0,
      280_000,
    );
  }
  server.close();
  expect(received).toBe(1);
}, 320_000);
