import { askTransfer } from '../../../src/money-out/payouts/ask-transfer.ts';
import type { PayoutSettlement } from '../../../src/money-out/payouts/payout.ts';
import { resolvePayout } from '../../../src/money-out/payouts/resolve-payout.ts';
import { sendTransfer } from '../../../src/money-out/payouts/send-transfer.ts';
import { settlePayout } from '../../../src/money-out/payouts/settle-payout.ts';
import type { Sealer } from '../../../src/platform/encryption/sealer.ts';
import type { CallBudget } from '../../../src/platform/gateway/call-budget.ts';
import type { Gateway, RefundRequest, TransferRequest } from '../../../src/platform/gateway/gateway.ts';
import { createXenditGateway } from '../../../src/platform/gateway/xendit/create-xendit-gateway.ts';
import { onlyProvider } from '../../support/only-provider.ts';
import type { Stack } from '../../support/stack.ts';

export interface How {
  gateway?: Gateway;
  resendHours?: number;
  sealer?: Sealer;
}

/** The activities of payouts, run by the test instead of a workflow, and their effects. */
export function openSteps(stack: Stack) {
  const { sealer } = stack.deps;
  const asked = new Set<string>();
  /** Whether the sandbox never answers this request; its time-out is then short. */
  function isUnanswered({ reference, ...request }: TransferRequest | RefundRequest): boolean {
    const accountNumber = 'accountNumber' in request ? request.accountNumber : '';
    const isFirst = !asked.has(reference);
    asked.add(reference);
    return /90000[34]$/.test(accountNumber) || (isFirst && accountNumber.endsWith('900005'));
  }
  /** Opens a gateway to the sandbox that counts its POST requests. */
  function openGateway(budget?: CallBudget): Gateway & { requests: number } {
    const open = (timeoutMs: number) =>
      createXenditGateway({
        secretKey: stack.env.XENDIT_SECRET_KEY ?? '',
        url: stack.sandbox.url,
        callbackToken: stack.callbackToken,
        timeoutMs,
        ...(budget && { budget }),
        fetch: (input, init) => {
          if (init?.method === 'POST') counted.requests += 1;
          return fetch(input, init);
        },
      });
    const [hurried, patient] = [open(1_000), open(5_000)];
    const counted: Gateway & { requests: number } = {
      ...patient,
      requestTransfer: (request, options) =>
        (isUnanswered(request) ? hurried : patient).requestTransfer(request, options),
      requests: 0,
    };
    return counted;
  }
  const sendingWith = ({ gateway = openGateway(), resendHours = 24, ...how }: How) => ({
    gateways: onlyProvider(gateway),
    sealer,
    payoutKinds: stack.deps.payoutKinds,
    resendHours,
    ...how,
  });
  const stepOf = (payoutId: string) => ({
    payoutId,
    at: new Date().toISOString(),
    signal: AbortSignal.timeout(30_000),
  });
  const attemptsOf = (id: string) =>
    stack.em().execute<{ number: number; outcome: string | null; sent: boolean }[]>(
      `select number, outcome, outcome is distinct from 'unsent' as sent from payout_attempts
       where payout_id = ? order by number`,
      [id],
    );
  return {
    openGateway,
    send: (id: string, how: How = {}) => sendTransfer(stack.em(), sendingWith(how), stepOf(id)),
    ask: (id: string, how: How = {}) => askTransfer(stack.em(), sendingWith(how), stepOf(id)),
    resolve: (payoutId: string) => resolvePayout(stack.em(), stack.deps, { payoutId }),
    async askAndResolve(payoutId: string) {
      await askTransfer(stack.em(), sendingWith({}), stepOf(payoutId));
      return resolvePayout(stack.em(), stack.deps, { payoutId });
    },
    settle: (id: string, settlement: PayoutSettlement) =>
      settlePayout(stack.em(), { ...stack.deps, ...sendingWith({}) }, { ...stepOf(id), settlement }),
    attemptsOf,
    /** How many attempts may have reached the provider. */
    madeOf: async (id: string) => (await attemptsOf(id)).filter(({ sent }) => sent).length,
    rowOf: async (id: string) => {
      const [row] = await stack
        .em()
        .execute<{ status: string; last_word: string; unknown_since: string | null }[]>(
          'select status, last_word, unknown_since from payouts where id = ?',
          [id],
        );
      return row;
    },
  };
}
