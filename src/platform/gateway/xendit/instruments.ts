import {
  type CallOptions,
  type Instrument,
  type InstrumentOutcome,
  type InstrumentRequest,
  type InstrumentState,
  type PaymentsRead,
  type ProviderPayment,
  ProviderUnknown,
} from '../gateway.ts';
import { askFurther, type Client, exchange, lookUp, refusalOf } from './client.ts';
import { buildPaymentRequest, unsupportedChannel } from './instrument-request.ts';
import {
  instrumentOf,
  instrumentStateOf,
  isFinalMethodStatus,
  paymentAnswer,
  paymentRequestAnswer,
  paymentsAnswer,
  providerPaymentOf,
} from './instrument-state.ts';
import type { ClientSettings } from './settings.ts';

const paymentsPerPage = 50;
const mostPaymentPages = 20;
/** One request is expected, as the reference is the idempotency key; more than a few are a provider bug. */
const mostRequestsPerReference = 10;

/** Creates the instrument, with its reference as the idempotency key of every attempt. */
export async function requestInstrument(
  settings: ClientSettings,
  request: InstrumentRequest,
  options: CallOptions = {},
): Promise<InstrumentOutcome> {
  const data = buildPaymentRequest(request);
  if (!data) {
    return { outcome: 'refused', code: unsupportedChannel, message: 'the provider does not have this channel' };
  }
  try {
    const instrument = await exchange(settings, 'request instrument', options, async (client): Promise<Instrument> => {
      const created = await client.paymentRequests.createPaymentRequest({ idempotencyKey: request.reference, data });
      const answer = paymentRequestAnswer.parse(created);
      if (answer.referenceId !== request.reference || answer.amount !== data.amount) {
        throw new ProviderUnknown('request instrument: the provider answered with another payment');
      }
      return instrumentOf(answer);
    });
    return { outcome: 'accepted', instrument };
  } catch (error) {
    return refusalOf(error);
  }
}

/**
 * Reads the payments under one payment method, newest first, up to the last or the one with the id `sought`. If there
 * are more than can be read at once, `rest` is the time of the oldest payment read. Throws for a malformed entry, or
 * with `inPart` leaves it out: the records of its day show it to operators.
 */
export async function readPayments(
  client: Client,
  paymentMethodId: string,
  { sought, since: createdGte, before, pages = mostPaymentPages, inPart = false }: Reading = {},
): Promise<PaymentsRead> {
  const found = new Map<string, ProviderPayment>();
  let createdLte = before;
  for (let page = 0; page < pages; page += 1) {
    const { data, has_more: hasMore } = paymentsAnswer.parse(
      await client.paymentMethods.getPaymentsByPaymentMethodId({
        paymentMethodId,
        limit: paymentsPerPage,
        ...(createdLte ? { createdLte } : {}),
        ...(createdGte ? { createdGte } : {}),
      }),
    );
    const known = found.size;
    const read = data.map((entry) => (inPart ? paymentAnswer.safeParse(entry).data : paymentAnswer.parse(entry)));
    const answers = read.filter((answer) => answer !== undefined);
    for (const payment of answers) found.set(payment.id, providerPaymentOf(payment, paymentMethodId));
    if (!hasMore || found.has(sought ?? '')) return { payments: [...found.values()], rest: null };
    if (found.size === known) throw new ProviderUnknown('find payments: more with one timestamp than can be read');
    createdLte = new Date(Math.min(...answers.map(({ created }) => Date.parse(created))));
  }
  return { payments: [...found.values()], rest: createdLte ?? null };
}

interface Reading {
  sought?: string;
  /** Bounds on the creation time, both inclusive. */
  since?: Date | undefined;
  before?: Date | undefined;
  pages?: number;
  /** One malformed payment of a reusable instrument must not hold up all others. */
  inPart?: boolean;
}

const whole = ({ payments, rest }: PaymentsRead): ProviderPayment[] => {
  if (rest === null) return payments;
  throw new ProviderUnknown('find payments: there are more than can be read');
};

const tellingFirst: InstrumentState['status'][] = ['paid', 'waiting', 'failed', 'expired'];

/**
 * Returns the provider's state of the instrument with this reference and every payment made under it; with `briefly`,
 * without the payments of a pending instrument.
 */
export async function findInstrument(
  settings: ClientSettings,
  reference: string,
  { briefly = false, ...options }: CallOptions & { briefly?: boolean } = {},
): Promise<InstrumentState | null> {
  return lookUp(settings, 'find instrument', options, async (client) => {
    const { data } = await client.paymentRequests.getAllPaymentRequests({
      referenceId: [reference],
      limit: mostRequestsPerReference,
    });
    const states: InstrumentState[] = [];
    for (const item of data) {
      const answer = paymentRequestAnswer.parse(item);
      if (answer.referenceId !== reference) continue;
      const unpaid = instrumentStateOf(answer, []);
      if (briefly && unpaid.status === 'waiting') {
        states.push(unpaid);
        continue;
      }
      // The instrument exists, so a 404 for its payments proves nothing about them.
      const payments = whole(await askFurther('find payments', readPayments(client, answer.paymentMethod.id)));
      states.push(instrumentStateOf(answer, payments));
    }
    const payments = states.flatMap((state) => state.payments);
    states.sort((left, right) => tellingFirst.indexOf(left.status) - tellingFirst.indexOf(right.status));
    const [telling] = states;
    return telling ? { ...telling, payments } : null;
  });
}

/**
 * Reads a payment by the provider's ids. The provider has no look-up by payment id, so this reads the method's
 * payments, newest first, up to the one sought. If a reusable method has since received more payments than can be read,
 * the outcome is unknown, never "missing".
 */
export async function findPayment(
  settings: ClientSettings,
  paymentMethodId: string,
  paymentId: string,
  options: CallOptions = {},
): Promise<ProviderPayment | null> {
  return lookUp(settings, 'find payment', options, async (client) => {
    const read = await readPayments(client, paymentMethodId, { sought: paymentId });
    const isIt = ({ providerPaymentId }: ProviderPayment) => providerPaymentId === paymentId;
    return read.payments.find(isIt) ?? whole(read).find(isIt) ?? null;
  });
}

/**
 * Expires a payment method. The provider refuses to expire a closed one, so a failed call is followed by a look-up;
 * throws ProviderUnknown only if the method may still accept money or does not exist at the provider.
 */
export async function expireInstrument(
  settings: ClientSettings,
  paymentMethodId: string,
  options: CallOptions = {},
): Promise<void> {
  const status = await lookUp(settings, 'expire instrument', options, async (client) => {
    try {
      return (await client.paymentMethods.expirePaymentMethod({ paymentMethodId, data: {} })).status ?? null;
    } catch {
      return (await client.paymentMethods.getPaymentMethodByID({ paymentMethodId })).status ?? null;
    }
  });
  if (!isFinalMethodStatus(status ?? undefined)) {
    throw new ProviderUnknown(`expire instrument: the provider answered ${status ?? 'that it knows none'}`);
  }
}
