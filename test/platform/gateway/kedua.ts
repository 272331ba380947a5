import { createHash } from 'node:crypto';
import { type Gateway, type ProviderPayment, ProviderUnknown } from '../../../src/platform/gateway/gateway.ts';
import { equalSecrets } from '../../../src/shared/digest.ts';
import { providers } from '../../../src/wiring/gateways.ts';
import type { KeduaInstrument, KeduaPayment, KeduaTransfer } from './kedua-server.ts';

/**
 * A second provider with its own wire format of JSON requests and answers. Importing this file registers it: the worker
 * of a test imports it before it starts. `KEDUA_URL` is its address.
 */
providers.kedua = () => createKeduaGateway(process.env.KEDUA_URL ?? '', keduaToken);

/** The token in its callbacks. */
export const keduaToken = 'a-callback-token-of-kedua';

function createKeduaGateway(url: string, callbackToken: string): Gateway {
  async function ask<T>(question: string, body: object = {}, signal?: AbortSignal): Promise<T> {
    try {
      const sent = { method: 'POST', body: JSON.stringify(body), ...(signal && { signal }) };
      const answer = await fetch(`${url}/${question}`, sent);
      if (answer.ok) return (await answer.json()) as T;
    } catch {
      // The request may have been received.
    }
    throw new ProviderUnknown(`kedua does not answer ${question}`);
  }
  const instrumentOf = ({ id, code, expires_at }: KeduaInstrument) => ({
    providerPaymentRequestId: id,
    providerPaymentMethodId: id,
    paymentCode: code,
    expiresAt: new Date(expires_at),
  });
  const paymentOf = ({ id, instrument, reference, amount, paid_at }: KeduaPayment): ProviderPayment => ({
    providerPaymentId: id,
    providerPaymentRequestId: instrument,
    providerPaymentMethodId: instrument,
    reference,
    amount,
    status: 'succeeded',
    failureCode: null,
    paidAt: new Date(paid_at),
  });
  const transferOf = ({ id, reference, amount, created_at }: KeduaTransfer) => ({
    providerTransferId: id,
    reference,
    amount,
    status: 'succeeded' as const,
    failureCode: null,
    createdAt: new Date(created_at),
  });
  const refused = { outcome: 'refused', code: 'NOT_SUPPORTED', message: 'kedua has none' } as const;
  return {
    provider: 'kedua',
    async requestInstrument({ reference, amount, expiresAt }, { signal } = {}) {
      const made = await ask<KeduaInstrument>('instrument', { reference, amount, expires_at: expiresAt }, signal);
      return { outcome: 'accepted', instrument: instrumentOf(made) };
    },
    async findInstrument(reference, { signal } = {}) {
      const found = await ask<KeduaInstrument | null>('find-instrument', { reference }, signal);
      if (found === null) return null;
      const status = found.payments.length > 0 ? 'paid' : found.expired ? 'expired' : 'waiting';
      return { status, failureCode: null, instrument: instrumentOf(found), payments: found.payments.map(paymentOf) };
    },
    async findPayment(_, id, { signal } = {}) {
      const found = await ask<KeduaPayment | null>('find-payment', { id }, signal);
      return found && paymentOf(found);
    },
    requestReusable: async () => refused,
    findReusable: async () => null,
    listPaymentsUnder: async () => ({ payments: [], rest: null }),
    expireInstrument: (id, { signal } = {}) => ask('expire', { id }, signal),
    async requestTransfer(request, { signal, beforeSend } = {}) {
      if ('refundOf' in request) return refused;
      if (beforeSend && !(await beforeSend())) throw new ProviderUnknown('not sent', { neverSent: true });
      return { outcome: 'accepted', transfer: transferOf(await ask<KeduaTransfer>('transfer', request, signal)) };
    },
    digestTransfer: (request) => createHash('sha256').update(JSON.stringify(request)).digest('hex'),
    async findTransfer(reference, { signal } = {}) {
      const found = await ask<KeduaTransfer | null>('find-transfer', { reference }, signal);
      return found && { ...transferOf(found), further: [] };
    },
    async *listRecords() {
      const books = await ask<{ payments: KeduaPayment[]; transfers: KeduaTransfer[] }>('books');
      const recordOf = ({ id, reference, amount }: KeduaPayment | KeduaTransfer) => ({
        entryId: id,
        providerId: id,
        reference,
        amount,
        status: 'succeeded' as const,
      });
      yield [
        ...books.payments.map((payment) => ({ ...recordOf(payment), kind: 'payment' as const })),
        ...books.transfers.map((transfer) => ({ ...recordOf(transfer), kind: 'transfer' as const })),
      ];
    },
    checkBankAccount: async () => ({ status: 'valid', holder: null }),
    readBalance: async () => (await ask<{ balance: string }>('balance')).balance,
    readCallback(body) {
      const { event, reference, payment, instrument, transfer } = JSON.parse(body.toString());
      return {
        hint: {
          kind: transfer ? 'transfer' : 'payment',
          event,
          reference,
          providerPaymentId: payment ?? null,
          providerPaymentRequestId: instrument ?? null,
          providerPaymentMethodId: instrument ?? null,
          providerTransferId: transfer ?? null,
        },
      };
    },
    isCallbackToken: (token) => token !== undefined && equalSecrets(token, callbackToken),
  };
}
