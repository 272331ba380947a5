import { Webhook } from 'standardwebhooks';
import { verifyWebhook } from '../../sdk/index.ts';
import { newWebhookSecret } from '../../src/partners/partner-secrets.ts';

const secret = newWebhookSecret();
const other = newWebhookSecret();
const now = new Date('2026-01-15T03:00:00Z');
const body = '{"type":"payment.succeeded","timestamp":"2026-01-15T03:00:00.000Z","data":{"amount":"10000.0000"}}';

const sign = (signedWith: string, text = body) => new Webhook(signedWith).sign('msg-1', now, text);
const headers = {
  'webhook-id': 'msg-1',
  'webhook-timestamp': String(now.getTime() / 1000),
  'webhook-signature': sign(secret),
};

describe('verifyWebhook', () => {
  it('verifyWebhook accepts text or bytes, either of two secrets, and any form of headers', async () => {
    const expected = { id: 'msg-1', webhook: JSON.parse(body) };
    expect(await verifyWebhook(secret, headers, body, now)).toEqual(expected);
    expect(await verifyWebhook([other, secret], headers, Buffer.from(body), now)).toEqual(expected);
    expect(await verifyWebhook(secret, new Headers(headers), body, now)).toEqual(expected);
    const capitals = { 'Webhook-Id': 'msg-1', ...headers, 'Webhook-Signature': headers['webhook-signature'] };
    const { 'webhook-id': _, 'webhook-signature': __, ...mixed } = capitals;
    expect(await verifyWebhook(secret, mixed, body, now)).toEqual(expected);
    const both = { ...headers, 'webhook-signature': `${sign(other)} v2,AAAA ${sign(secret)}` };
    expect(await verifyWebhook(secret, both, body, now)).toEqual(expected);
  });

  it.each([
    ['altered', {}, body.replace('10000', '90000'), 'the signature does not match'],
    ['signed by someone else', { 'webhook-signature': sign(other) }, body, 'the signature does not match'],
    ['signed with invalid base64', { 'webhook-signature': 'v1,%%%' }, body, 'the signature does not match'],
    ['another webhook’s', { 'webhook-id': 'msg-2' }, body, 'the signature does not match'],
    ['unsigned', { 'webhook-signature': undefined }, body, 'webhook-signature is missing'],
    ['without a time', { 'webhook-timestamp': 'soon' }, body, 'too old, or from the future'],
  ])('verifyWebhook rejects a webhook that is %s', async (_, changes, text, reason) => {
    const verifying = verifyWebhook(secret, { ...headers, ...changes }, text, now);
    await expect(verifying).rejects.toMatchObject({ name: 'WebhookError', message: expect.stringContaining(reason) });
  });

  it('verifyWebhook rejects a webhook more than five minutes old or early', async () => {
    for (const seconds of [301, -301]) {
      const then = new Date(now.getTime() + seconds * 1000);
      await expect(verifyWebhook(secret, headers, body, then)).rejects.toThrow('too old, or from the future');
    }
    await verifyWebhook(secret, headers, body, new Date(now.getTime() + 299_000));
  });

  it('verifyWebhook rejects a malformed secret and a parsed body', async () => {
    for (const none of ['', 'whsec_', 'whsec_c2hvcnQ=', secret.slice(6)]) {
      await expect(verifyWebhook(none, headers, body, now)).rejects.toThrow('a webhook secret is whsec_');
    }
    // @ts-expect-error: what a server's JSON parser made of it
    await expect(verifyWebhook(secret, headers, { type: 'payment.succeeded' }, now)).rejects.toThrow(
      'before any parsing',
    );
  });
});
