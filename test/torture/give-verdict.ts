import type { EntityManager } from '@mikro-orm/postgresql';
import type { BuiltUser } from '../support/build.ts';
import type { Http } from '../support/http.ts';
import type { VerdictFact } from './decision-facts.ts';
import type { Work } from './plan-work.ts';
import { toldBy } from './propose-and-approve.ts';
import type { Workplace } from './workplace.ts';

const patienceMs = 25_000;
const roundMs = 1_000;
const mostRounds = 120;

interface Waiting {
  id: string;
  withdrawal_id: string;
}

/** Disbursements waiting for approval, the oldest first. */
const findWaiting = (em: EntityManager): Promise<Waiting[]> =>
  em.execute<Waiting[]>(
    "select id, withdrawal_id from decisions where kind = 'disburse' and status = 'pending' order by created_at, id",
  );

/** Approves or rejects a disbursement as one person; records the verdict before sending it. */
async function say(
  api: Pick<Http, 'post'>,
  verdicts: VerdictFact[],
  { id, withdrawal_id }: Waiting,
  { by: { id: by, token }, verdict }: { by: BuiltUser; verdict: VerdictFact['verdict'] },
): Promise<string | null> {
  const said: VerdictFact = { withdrawalId: withdrawal_id, by, verdict, status: null, told: null };
  verdicts.push(said);
  const signal = AbortSignal.timeout(patienceMs);
  const answer = await api.post(`/v1/decisions/${id}/${verdict}`, undefined, { token, signal }).catch(() => null);
  if (answer !== null) Object.assign(said, toldBy(answer));
  return said.told;
}

/** Approves or rejects the oldest pending disbursement as one person, who may click twice. */
export async function giveVerdict(
  { topology, apis, cast, verdicts, note }: Workplace,
  work: Extract<Work, { do: 'verdict' }>,
): Promise<void> {
  const [waiting] = await findWaiting(topology.em());
  const by = cast.approvers[work.approver];
  if (waiting === undefined || by === undefined) return;
  const how = { by, verdict: work.rejects ? 'reject' : 'approve' } as const;
  const told = await Promise.all(
    Array.from({ length: work.twin ? 2 : 1 }, () => say(apis[work.api], verdicts, waiting, how)),
  );
  note(`${work.id}: ${how.verdict} of the disbursement ${waiting.withdrawal_id}: ${told.join(', ')}`);
}

/** After the faults, approves all pending disbursements as two people. */
export async function approveTheRest({ topology, cast, verdicts }: Workplace): Promise<void> {
  for (let round = 0; round < mostRounds; round += 1) {
    const waiting = await findWaiting(topology.em()).catch(() => null);
    if (waiting?.length === 0) return;
    for (const one of waiting ?? []) {
      for (const by of cast.approvers) {
        const told = await say(topology.api, verdicts, one, { by, verdict: 'approve' });
        if (told !== 'pending' && told !== '403') break;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, roundMs));
  }
}
