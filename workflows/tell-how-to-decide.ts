/** A way in which two people may end the wait, in a few words, and the body of its proposal. */
interface Way {
  when: string;
  proposal: { kind: string } & Record<string, string>;
}

/**
 * How two people decide, for a workflow's current details: requests that can be copied as they stand, each in its own
 * fenced block, because the web UI would turn plain quotes into typographic ones.
 */
export const tellHowToDecide = (ways: readonly Way[]): string =>
  [
    'people: one proposes, with a token of theirs in $TOKEN, and another approves.',
    ...ways.flatMap(({ when, proposal }) => [
      `If ${when}:`,
      '```',
      'curl --fail-with-body -X POST "$AMANAH_URL/v1/decisions" \\',
      '  -H "Authorization: Bearer $TOKEN" -H \'Content-Type: application/json\' \\',
      `  -d '${JSON.stringify({ ...proposal, note: 'the evidence, by its references' })}'`,
      '```',
    ]),
    'Then, as another, with the id that was answered in $DECISION_ID:',
    '```',
    'curl --fail-with-body -X POST "$AMANAH_URL/v1/decisions/$DECISION_ID/approve" -H "Authorization: Bearer $TOKEN"',
    '```',
  ].join('\n');
