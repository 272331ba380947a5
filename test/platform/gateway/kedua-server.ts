import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { addMoney, subtractMoney } from '../../../src/shared/money.ts';

export interface KeduaPayment {
  id: string;
  instrument: string;
  reference: string;
  /** IDR, scale 4. */
  amount: string;
  paid_at: string;
}

export interface KeduaInstrument {
  id: string;
  reference: string;
  code: string;
  amount: string;
  expires_at: string;
  expired: boolean;
  payments: KeduaPayment[];
}

export interface KeduaTransfer {
  id: string;
  reference: string;
  amount: string;
  bankCode: string;
  created_at: string;
}

/** Starts the second provider's server: its records, and a payer. */
export async function startKedua() {
  const instruments: KeduaInstrument[] = [];
  const transfers: KeduaTransfer[] = [];
  const payments = () => instruments.flatMap((instrument) => instrument.payments);
  const under = <T extends { reference: string }>(rows: T[], { reference }: { reference: string }) =>
    rows.find((row) => row.reference === reference) ?? null;
  const keep = <T extends { reference: string }>(rows: T[], row: T) => {
    const known = under(rows, row);
    if (known === null) rows.push(row);
    return known ?? row;
  };
  const id = (kind: string) => `kedua:${kind}-${instruments.length + transfers.length + payments().length}`;
  // biome-ignore lint/suspicious/noExplicitAny: what arrives is what the adapter sends
  const answers: Record<string, (asked: any) => unknown> = {
    instrument: (asked) =>
      keep(instruments, { ...asked, id: id('i'), code: `8810${instruments.length}`, expired: false, payments: [] }),
    'find-instrument': (asked) => under(instruments, asked),
    'find-payment': (asked) => payments().find((payment) => payment.id === asked.id) ?? null,
    expire: (asked) =>
      instruments.filter((one) => one.id === asked.id).map((one) => Object.assign(one, { expired: true })),
    transfer: (asked) => keep(transfers, { ...asked, id: id('t'), created_at: new Date().toISOString() }),
    'find-transfer': (asked) => under(transfers, asked),
    books: () => ({ payments: payments(), transfers }),
    balance: () => ({
      balance: subtractMoney(
        addMoney('0', ...payments().map(({ amount }) => amount)),
        addMoney('0', ...transfers.map(({ amount }) => amount)),
      ),
    }),
  };
  const server = createServer(async (request, response) => {
    const answer = answers[request.url?.slice(1) ?? ''];
    const asked = JSON.parse(await text(request));
    response.writeHead(answer ? 200 : 404).end(JSON.stringify(answer?.(asked) ?? null));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    transfers,
    instruments,
    /** Pays an instrument by its payment code; returns the callback that it sends. */
    pay(code: string) {
      const instrument = instruments.find((one) => one.code === code);
      if (instrument === undefined) throw new Error(`kedua has no ${code}`);
      const { reference, amount } = instrument;
      const paid_at = new Date().toISOString();
      const payment = { id: id('p'), instrument: instrument.id, reference, amount, paid_at };
      instrument.payments.push(payment);
      return { event: 'paid', reference, payment: payment.id, instrument: instrument.id };
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
