import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makePlan, type Plan, parsePlan } from './plan.ts';
import { faultStories } from './plan-faults.ts';
import { type RunOptions, type RunReport, runPlan } from './run-plan.ts';
import { shrinkPlan } from './shrink.ts';
import { tellStory } from './tell-story.ts';

const usage = `Usage: npm run torture -- [--seed N] [--minutes M] [--replay plan.json] [--record plan.json]
                          [--rest SECONDS] [--no-shrink] [--list]

Runs the whole product under random work and random faults, and compares the clients' responses, the provider's records
and the books. Without --seed the seed is random, and printed first; without --minutes work and faults last 3 minutes.
After a finding it searches for ten minutes for the smallest plan that still shows it (--no-shrink skips this), and
exits with 1. It exits with 2 if the torture itself failed. --rest is the number of seconds after the faults within
which something must come to rest, while anything is in progress.`;

const width = 130;

/** Progress overwrites one line in a terminal; elsewhere a line is printed this often. */
const everyMs = 15_000;
let toldAt = 0;

function showProgress(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r${text.slice(0, width).padEnd(width)}`);
  else if (Date.now() - toldAt > everyMs) {
    toldAt = Date.now();
    say(text);
  }
}
const clear = () => {
  if (process.stdout.isTTY) process.stdout.write(`\r${' '.repeat(width)}\r`);
};
const say = (text: string) => void process.stdout.write(`${text}\n`);

function report(plan: Plan, { findings, summary, directory, timelines }: RunReport): void {
  clear();
  say(summary);
  if (findings.length === 0) {
    say(`Seed ${plan.seed}: no findings.`);
    return;
  }
  say(`Seed ${plan.seed}: ${findings.length} findings.`);
  for (const { oracle, says } of findings) say(`  ${oracle}: ${says}`);
  for (const [resource, story] of timelines) say(`\nThe timeline of ${resource}\n${story}`);
  say(`\nData, logs, plan and facts: ${directory}`);
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      minutes: { type: 'string', default: '3' },
      replay: { type: 'string' },
      record: { type: 'string' },
      rest: { type: 'string', default: '360' },
      'no-shrink': { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    say(usage);
    return 0;
  }
  if (values.list) {
    for (const [name, story] of Object.entries(faultStories)) say(`${name.padEnd(18)}${story}`);
    return 0;
  }
  if (values.replay !== undefined && values.seed !== undefined) {
    process.stderr.write(`a replayed plan has its own seed.\n${usage}\n`);
    return 2;
  }
  const seed = values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : Number(values.seed);
  const minutes = Number(values.minutes);
  const restBoundMs = Number(values.rest) * 1000;
  if (!Number.isFinite(seed) || !(minutes > 0) || !(restBoundMs > 0)) {
    process.stderr.write(`--seed, --minutes and --rest must be numbers.\n${usage}\n`);
    return 2;
  }
  const plan: Plan =
    values.replay === undefined ? makePlan(seed, minutes) : parsePlan(readFileSync(values.replay, 'utf8'));
  say(
    `Seed ${plan.seed}: ${plan.work.length} pieces of work and ${plan.faults.length} faults in ${plan.durationMs / 1000} s.`,
  );
  if (values.record !== undefined) writeFileSync(values.record, JSON.stringify(plan, null, 1));
  const options = { progress: showProgress, aloud: say, tellStory, restBoundMs };
  const found = await runPlan(plan, options);
  report(plan, found);
  if (found.findings.length === 0) return 0;
  if (!values['no-shrink']) await shrink(plan, found, options);
  return 1;
}

/** When the plan first requested a resource of the findings; null if it requested none of them. */
function momentOf({ findings, facts: { attempts, events }, begun }: RunReport): number | null {
  for (const { resourceId } of findings) {
    if (resourceId === null) continue;
    const requests = new Set(
      events.filter((event) => event.resourceId === resourceId).map(({ requestId }) => requestId),
    );
    const times = attempts
      .filter((attempt) => attempt.resourceId === resourceId || requests.has(attempt.requestId))
      .map(({ sentAt }) => sentAt - begun);
    if (times.length > 0) return Math.min(...times);
  }
  return null;
}

const shrinkMs = 10 * 60_000;
const tries = 3;

/** Searches for the smallest plan that still shows one of the findings, and writes it beside the data. */
async function shrink(plan: Plan, found: RunReport, options: RunOptions): Promise<void> {
  const { findings, directory } = found;
  const until = Date.now() + shrinkMs;
  const wanted = new Set(findings.map(({ oracle }) => oracle));
  const isOver = () => Date.now() > until;
  const wouldEnd = (candidate: Plan) => Date.now() + candidate.durationMs > until;
  const shows = async (candidate: Plan) => {
    for (let attempt = 0; attempt < tries && !isOver() && !wouldEnd(candidate); attempt += 1) {
      const restBoundMs = Math.max(0, Math.min(options.restBoundMs, until - Date.now() - candidate.durationMs));
      const again = await runPlan(candidate, { ...options, restBoundMs, tellStory: undefined }).catch(() => null);
      // A failed attempt proves nothing.
      if (again === null) continue;
      if (again.directory !== null) rmSync(again.directory, { recursive: true, force: true });
      // A request cut short at the end proves nothing.
      if (!isOver() && again.findings.some(({ oracle }) => wanted.has(oracle))) return true;
    }
    return false;
  };
  const small = await shrinkPlan(plan, shows, { isOver, moment: momentOf(found) });
  clear();
  const file = join(directory ?? '.', 'smallest-plan.json');
  writeFileSync(file, JSON.stringify(small, null, 1));
  const isSmaller = small.work.length < plan.work.length || small.faults.length < plan.faults.length;
  say(
    isSmaller
      ? `The smallest plan that still shows it: ${small.work.length} pieces of work, ${small.faults.length} faults.`
      : 'No smaller plan reproduced it within ten minutes: this is the whole plan.',
  );
  for (const item of [...small.faults, ...small.work].slice(0, 20)) say(`  ${JSON.stringify(item)}`);
  say(`To repeat it: npm run torture -- --replay ${file}`);
}

// When the channel closes, the process that started us has exited, so nobody waits for this run.
if (process.channel) process.once('disconnect', () => process.exit(1));
try {
  process.exit(await main());
} catch (error) {
  clear();
  console.error(error);
  process.exit(2);
}
