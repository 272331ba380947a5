import { spawnSync } from 'node:child_process';
import { readTemporalPlace } from '../src/platform/config/command-config.ts';
import { runCommand } from '../src/wiring/commands/run-command.ts';
import { findTemporalBinary } from './temporal-binary.ts';

const usage = `Usage: npm run temporal -- <command of Temporal's command line>

Runs Temporal's command line, with the address and namespace of TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, or of the stack
that runs on DATA_DIR. For example: npm run temporal -- workflow list`;

await runCommand(usage, async () => {
  const args = process.argv.slice(2);
  if (args.length === 0) return usage;
  const place = readTemporalPlace();
  const binary = await findTemporalBinary((sentence) => process.stderr.write(`${sentence}\n`));
  const { status, error } = spawnSync(binary, args, { stdio: 'inherit', env: { ...process.env, ...place } });
  if (error) throw error;
  process.exitCode = status ?? 1;
  return null;
});
