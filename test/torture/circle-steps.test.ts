import { itInFull } from '../support/full.ts';
import type { HttpAnswer } from '../support/http.ts';
import { join } from './circle-steps.ts';
import type { Workplace } from './workplace.ts';

const answer = (status: number, message: string): HttpAnswer => ({ status, headers: new Headers(), body: { message } });

/** A workplace whose APIs give these answers in turn; null is no answer. */
function placeOf(answers: (HttpAnswer | null)[]): Workplace {
  const api = { post: async () => answers.shift() ?? Promise.reject(new Error('no answer')) };
  return { apis: [api, api] } as unknown as Workplace;
}

const joinBy = (...answers: (HttpAnswer | null)[]) => join(placeOf(answers), 'token', { saving_circle_id: 'c' });

it.each([
  ['the request succeeded', [answer(200, 'Joined')]],
  ['a retry succeeded', [answer(401, 'The token has expired'), answer(200, 'Joined')]],
  ['an earlier request succeeded', [null, answer(400, 'the account a or its user is a member already')]],
  [
    'the circle has started since',
    [null, answer(400, 'members can only join a new saving circle; this one is active')],
  ],
])('A user counts as joined to a circle if %s', async (_, answers) => {
  expect(await joinBy(...answers)).toBe(true);
});

itInFull(
  'The outcome of joining is unknown if no attempt was answered, or all were rejected before processing',
  async () => {
    expect(await joinBy(null, null, null, null)).toBe(false);
    expect(await joinBy(...Array.from({ length: 4 }, () => answer(401, 'The token has expired')))).toBe(false);
  },
);

it('Joining a circle throws the reason of a refusal', async () => {
  await expect(joinBy(answer(400, 'the saving circle is full: it has 2 places'))).rejects.toThrow('it has 2 places');
});
