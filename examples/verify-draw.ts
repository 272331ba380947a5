/**
 * Checks the draw of a saving circle's lottery without asking anybody: whether the seed is the one that was committed to
 * before the members joined, and the order the one that follows from it.
 *
 *   curl -s $api/v1/saving-circles/$id/draw -H "authorization: Bearer $token" > draw.json
 *   npx node examples/verify-draw.ts draw.json <the commitment as you noted it when you joined>
 */
import { readFileSync } from 'node:fs';
import { DrawError, verifyDraw } from '../sdk/index.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const [file, notedCommitment] = process.argv.slice(2);

if (file === undefined || notedCommitment === undefined) {
  say('npx node examples/verify-draw.ts draw.json <the commitment as you noted it when you joined>');
  process.exitCode = 2;
} else {
  const answer = JSON.parse(readFileSync(file, 'utf8'));
  try {
    const accounts = await verifyDraw(answer.data, notedCommitment);
    accounts.forEach((account, index) => {
      say(`Turn ${String(index + 1).padEnd(4)} ${account}`);
    });
    say('The draw is the one that was committed to.');
  } catch (error) {
    if (!(error instanceof DrawError)) throw error;
    say(`Not to be believed: ${error.message}.`);
    process.exitCode = 1;
  }
}
