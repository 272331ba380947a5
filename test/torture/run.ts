import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makePlan, type Plan } from './plan.ts';
import { faultStories } from './plan-faults.ts';
import { type RunReport, runPlan } from './run-plan.ts';
import { tellStory } from './tell-story.ts';

const usage = `Usage: npm run torture -- [--seed N] [--minutes M] [--replay plan.json] [--record plan.json] [--list]

Runs the whole product under random work and random faults, and judges what clients were told, what the provider did
and what the books say. Without --seed a random one is taken, and printed first; without --minutes it takes 3 minutes of
work and faults. Ends with 1 when something was found.`;

const width = 130;

/** On one line of a terminal; elsewhere a line now and then. */
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
    say(`Seed ${plan.seed}: nothing was found.`);
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
  const seed = values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : Number(values.seed);
  const minutes = Number(values.minutes);
  if (!Number.isFinite(seed) || !(minutes > 0)) {
    process.stderr.write(`--seed and --minutes are numbers.\n${usage}\n`);
    return 2;
  }
  const plan: Plan =
    values.replay === undefined ? makePlan(seed, minutes) : JSON.parse(readFileSync(values.replay, 'utf8'));
  say(
    `Seed ${plan.seed}: ${plan.work.length} pieces of work and ${plan.faults.length} faults in ${plan.durationMs / 1000} s.`,
  );
  if (values.record !== undefined) writeFileSync(values.record, JSON.stringify(plan, null, 1));
  const found = await runPlan(plan, { progress: showProgress, tellStory });
  report(plan, found);
  if (found.directory !== null) say(`Again: npm run torture -- --replay ${join(found.directory, 'plan.json')}`);
  return found.findings.length === 0 ? 0 : 1;
}

process.exit(await main());
