import type { HttpAnswer } from '../support/http.ts';
import type { Deciders } from './cast.ts';
import type { Decided } from './decision-facts.ts';
import { proposeAndApprove } from './propose-and-approve.ts';
import type { Workplace } from './workplace.ts';

const person = (id: string) => ({ id, token: id });
const operators = {
  proposer: person('admin'),
  approver: person('super'),
  other: person('another'),
} as unknown as Deciders;

/** Runs a piece of work at an API that refuses the proposer's approval; returns the recorded decisions. */
async function decide(id: string): Promise<Decided[]> {
  let proposer = '';
  const post = async (path: string, _: unknown, { token }: { token: string }): Promise<HttpAnswer> => {
    const proposes = path === '/v1/decisions';
    if (proposes) proposer = token;
    const headers = new Headers();
    if (!proposes && token === proposer) return { status: 403, headers, body: { message: 'another person' } };
    return { status: 200, headers, body: { data: { id: 'd-1', status: proposes ? 'pending' : 'carried_out' } } };
  };
  const remembered: Decided[] = [];
  const place = { apis: [{ post }, { post }], note: () => undefined } as unknown as Workplace;
  const remember = (decided: Decided) => remembered.push(decided);
  await proposeAndApprove(place, { id, api: 0, twin: false }, { operators, proposal: {}, says: 'it', remember });
  return remembered;
}

it('A decision is proposed by one operator and approved by another', async () => {
  expect(await decide('w1')).toEqual([
    { decisionId: 'd-1', proposedBy: 'admin', approvals: [{ by: 'super', status: 200, told: 'carried_out' }] },
  ]);
});

it('Every second decision is proposed by an approver, whose own approval is refused; another approves', async () => {
  expect(await decide('w2')).toEqual([
    {
      decisionId: 'd-1',
      proposedBy: 'super',
      approvals: [
        { by: 'super', status: 403, told: '403' },
        { by: 'another', status: 200, told: 'carried_out' },
      ],
    },
  ]);
});
