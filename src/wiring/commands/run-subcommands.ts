import { parseArgs } from 'node:util';
import type { MikroORM } from '@mikro-orm/postgresql';
import { type OperatorConfig, readOperatorConfig } from '../../platform/config/command-config.ts';
import { agreeOnKeys } from '../../platform/encryption/agree-on-keys.ts';
import { createPersonalKeys } from '../../platform/encryption/personal-keys.ts';
import { createSealer, type Sealer } from '../../platform/encryption/sealer.ts';
import { ConfigError, isDomainError } from '../../shared/errors.ts';
import { openDatabase } from '../open-database.ts';
import { CommandError } from './run-command.ts';

/** A command's dependencies: the databases and their keys; nothing else has to be running. */
export interface CommandTools {
  config: OperatorConfig;
  orm: MikroORM;
  /** Opens the keys database. Throws ConfigError when the environment names none. */
  openKeys(): MikroORM;
  /** Seals data that belongs to no person. Throws ConfigError when the environment has no keys. */
  openSealer(): Sealer;
  /** Also seals people's data. Throws ConfigError when the environment has no keys or names no keys database. */
  openPeople(): Sealer;
}

export interface CommandResult {
  /** The output with `--json`. */
  json: object;
  /** The output without it. */
  text: string;
}

export interface Subcommand {
  summary: string;
  /** Options with their explanations; those in `required` are mandatory. */
  options: Readonly<Record<string, string>>;
  required?: readonly string[];
  run(tools: CommandTools, options: Readonly<Record<string, string | undefined>>): Promise<CommandResult>;
}

const standard = { help: { type: 'boolean' }, json: { type: 'boolean' } } as const;

/**
 * Runs one of several subcommands and prints its result, as JSON with `--json`. Returns the exit code (2 for an error).
 */
export async function runSubcommands(
  title: string,
  commands: Readonly<Record<string, Subcommand>>,
  args: readonly string[],
): Promise<number> {
  const asJson = args.includes('--json');
  const [name = '', ...rest] = args[0]?.startsWith('-') ? ['', ...args] : args;
  const command = commands[name];
  try {
    if (!command) {
      if (name === '' && (args.length === 0 || args.includes('--help'))) return print(describeAll(title, commands));
      throw new CommandError(`There is no command ${name || args[0]}.\n\n${describeAll(title, commands)}`);
    }
    if (rest.includes('--help')) return print(describeOne(title, name, command));
    const options = readOptions(title, name, command, rest);
    const result = await withTools((tools) => command.run(tools, options));
    return print(asJson ? JSON.stringify(result.json, null, 2) : result.text);
  } catch (error) {
    const message = Error.isError(error) ? error.message : String(error);
    const known = isDomainError(error) || (Error.isError(error) && /^(Config|Command)Error$/.test(error.name));
    const code = isDomainError(error) ? error.code : known && Error.isError(error) ? error.name : 'INTERNAL';
    const told = known || !Error.isError(error) ? message : (error.stack ?? message);
    process.stderr.write(asJson ? `${JSON.stringify({ error: { code, message } })}\n` : `${told}\n`);
    return 2;
  }
}

async function withTools<T>(use: (tools: CommandTools) => Promise<T>): Promise<T> {
  const config = readOperatorConfig();
  const { KEYS_DATABASE_URL: keysUrl } = config;
  const orm = await openDatabase({ url: config.DATABASE_URL, poolSize: 2 });
  const keys = keysUrl === undefined ? null : await openDatabase({ url: keysUrl, poolSize: 2 });
  const openKeys = () => keys ?? missing('KEYS_DATABASE_URL');
  const openSealer = () => createSealer(keysOf(config));
  const openPeople = () => createSealer(keysOf(config), createPersonalKeys(openKeys(), openSealer(), agreeOnKeys(orm)));
  try {
    return await use({ config, orm, openKeys, openSealer, openPeople });
  } finally {
    await orm.close(true);
    await keys?.close(true);
  }
}

function missing(variable: string): never {
  throw new ConfigError(`The configuration cannot be used: ${variable} is missing.`);
}

/** Returns the keys for encryption at rest. Throws ConfigError when there are none. */
export function keysOf({ DATA_ENCRYPTION_KEYS: keys }: OperatorConfig): NonNullable<typeof keys> {
  return keys ?? missing('DATA_ENCRYPTION_KEYS');
}

function readOptions(
  title: string,
  name: string,
  { options, required = [] }: Subcommand,
  args: string[],
): Record<string, string | undefined> {
  const known = Object.fromEntries(Object.keys(options).map((option) => [option, { type: 'string' as const }]));
  let values: Record<string, string | boolean | undefined>;
  try {
    ({ values } = parseArgs({ args, options: { ...known, ...standard }, strict: true }));
  } catch (error) {
    throw new CommandError(`${Error.isError(error) ? error.message : error}. See ${title} ${name} --help.`);
  }
  const missing = required.filter((option) => !values[option]);
  if (missing.length > 0) {
    throw new CommandError(
      `${missing.map((option) => `--${option}`).join(', ')} missing. See ${title} ${name} --help.`,
    );
  }
  return Object.fromEntries(
    Object.entries(values).map(([option, value]) => [option, typeof value === 'string' ? value : undefined]),
  );
}

const row = (name: string, text: string): string => `  ${name.padEnd(28)}${text}`;

function describeAll(title: string, commands: Readonly<Record<string, Subcommand>>): string {
  const rows = Object.entries(commands).map(([name, { summary }]) => row(name, summary));
  const shared =
    'Every command accepts --help and --json. Without DATABASE_URL it uses the stack that runs on DATA_DIR.';
  return `${title} <command> [options]\n\nCommands:\n${rows.join('\n')}\n\n${shared}`;
}

function describeOne(title: string, name: string, { summary, options, required = [] }: Subcommand): string {
  const rows = Object.entries(options).map(([option, text]) =>
    row(`--${option} <value>`, `${text}${required.includes(option) ? ' (required)' : ''}`),
  );
  return `${title} ${name}: ${summary}\n\nOptions:\n${[...rows, row('--json', 'Print the result as JSON')].join('\n')}`;
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}
