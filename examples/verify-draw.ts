/**
 * Checks the draw of a saving circle's lottery offline: the seed must match the commitment published before the members
 * joined, and the order must follow from it.
 *
 *   curl -s $api/v1/saving-circles/$id/draw -H "authorization: Bearer $token" > draw.json
 *   npx node examples/verify-draw.ts draw.json <the commitment that you noted when you joined>
 *
 * In a circle with terms you joined with a value of your own: add your account and that value to check it.
 */
import { readFileSync } from 'node:fs';
import { DrawError, verifyDraw } from '../sdk/index.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const usage =
  'npx node examples/verify-draw.ts draw.json <the commitment that you noted> [<your account> <your value>]';
const [file, notedCommitment, account_id, value] = process.argv.slice(2);

if (file === undefined || notedCommitment === undefined) {
  say(usage);
  process.exitCode = 2;
} else {
  const answer = JSON.parse(readFileSync(file, 'utf8'));
  try {
    const own = account_id === undefined || value === undefined ? undefined : { account_id, value };
    const accounts = await verifyDraw(answer.data, notedCommitment, own);
    accounts.forEach((account, index) => {
      say(`Turn ${String(index + 1).padEnd(4)} ${account}`);
    });
    say('The draw matches its commitment.');
  } catch (error) {
    if (!(error instanceof DrawError)) throw error;
    say(`The draw cannot be trusted: ${error.message}.`);
    process.exitCode = 1;
  }
}
