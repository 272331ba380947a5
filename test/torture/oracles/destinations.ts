import type { Attempt, Facts, Finding } from '../facts.ts';

/** The request behind each resource that only requests create. */
export function askersOf({ asked, attempts }: Facts): Map<string, Attempt> {
  const requests = new Map(attempts.map((attempt) => [attempt.requestId, attempt]));
  return new Map(
    asked.flatMap(({ id, requestId }) => {
      const attempt = requests.get(requestId ?? '');
      return attempt === undefined ? [] : [[id, attempt] as const];
    }),
  );
}

/** Money sent to a bank goes to the account and holder in its request. */
export function transfersGoWhereAsked(facts: Facts): Finding[] {
  const askers = askersOf(facts);
  return facts.transfers.flatMap(({ id, reference, goesTo }): Finding[] => {
    const asker = askers.get(reference);
    if (goesTo === null || asker === undefined) return [];
    const wanted = asker.goesTo;
    if (wanted?.account === goesTo.account && wanted.holder === goesTo.holder) return [];
    const to = wanted === null ? 'no bank account' : `${wanted.account} of ${wanted.holder}`;
    const says = `${asker.kind} ${asker.requestId} was to go to ${to}, but the transfer ${id} of ${reference} goes to ${goesTo.account} of ${goesTo.holder}`;
    return [{ oracle: 'transfers-go-where-asked', resourceId: reference, says }];
  });
}

/**
 * A payout is reserved from its requester's account; a partner's payout is held on that partner's account, and sent or
 * returned only from there; money paid to a partner is held and released on its accounts.
 */
export function moneyOfAskersMoves(facts: Facts): Finding[] {
  const { payouts, orders, journals, partnerAccounts } = facts;
  const askers = askersOf(facts);
  const posted = new Map(journals.map((journal) => [journal.businessKey, journal]));
  /** Compares a journal's accounts with those due; undefined ones are not compared. */
  const judge = (id: string, key: string, due: { from?: string | undefined; to?: string | undefined }): Finding[] => {
    const journal = posted.get(key);
    if (journal === undefined) return [];
    const [from, to] = [journal.debited.join(', '), journal.credited.join(', ')];
    const find = (says: string) => [{ oracle: 'money-lands-where-asked', resourceId: id, says: `${key}: ${says}` }];
    if (due.from !== undefined && from !== due.from) {
      return find(`it was to be paid by ${due.from || 'nobody'}, and ${from || 'nobody'} paid`);
    }
    return due.to === undefined || to === due.to
      ? []
      : find(`its money was for ${due.to}, and ${to || 'nobody'} has it`);
  };
  const out = payouts.flatMap(({ id, kind }) => {
    const asker = askers.get(id);
    if (asker === undefined) return [];
    const own = partnerAccounts[asker.partner ?? ''];
    const key = (step: string) => `${kind.replace('_', '-')}/${id}/${step}`;
    const held = posted.get(key('reserved'))?.credited.join(', ');
    return [
      ...judge(id, key('reserved'), { from: own?.available ?? asker.source ?? undefined, to: own?.reserved }),
      ...judge(id, key('spent'), { from: held }),
      ...judge(id, key('returned'), { from: held }),
    ];
  });
  const into = orders.flatMap(({ id, family }) => {
    const own = partnerAccounts[askers.get(id)?.partner ?? ''];
    if (family !== 'partner-payment' || own === undefined) return [];
    return [
      ...judge(id, `${family}/${id}/settled`, { from: '', to: own.pending }),
      ...judge(id, `${family}/${id}/released`, { from: own.pending, to: own.available }),
    ];
  });
  return [...out, ...into];
}
