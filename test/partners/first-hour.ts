import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';

const root = join(import.meta.dirname, '..', '..');
/** The parts of the project's directory that the document speaks of. */
const project = ['sdk', 'examples', 'node_modules', 'package.json'];

/** A fenced block of `docs/partners-first-hour.md`: typed into the shell, or saved under the name that the text gives. */
export interface Block {
  line: number;
  language: string;
  text: string;
  /** The file as which the paragraph before the block has it saved. */
  file?: string;
}

/** Every fenced block of the document, in order. */
export function blocksOf(document: string): Block[] {
  const found: Block[] = [];
  for (const match of document.matchAll(/^```(\w*)\n(.*?)^```$/gms)) {
    const [, language = '', text = ''] = match;
    const before = document.slice(0, match.index);
    const [paragraph = ''] = before.trimEnd().split('\n\n').slice(-1);
    const file = /save (?:it|this)\s+as `([\w.-]+)`/i.exec(paragraph)?.[1];
    found.push({ line: before.split('\n').length, language, text, ...(file && { file }) });
  }
  return found;
}

export const firstHour = readFileSync(join(root, 'docs', 'partners-first-hour.md'), 'utf8');

/** One shell into which a reader pastes block after block, in a copy of the project's directory. */
export class Reader {
  private readonly directory: string;
  private readonly shell: ChildProcess;
  private output = '';
  private pasted = 0;

  constructor(directory: string, env: Record<string, string>) {
    this.directory = directory;
    for (const name of project) symlinkSync(join(root, name), join(directory, name));
    // A group of its own: what the document starts in the background ends with the shell.
    this.shell = spawn('bash', ['-E', '-o', 'pipefail'], {
      cwd: directory,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [this.shell.stdout, this.shell.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk));
    }
    this.shell.stdin?.write("trap 'failed=$BASH_COMMAND' ERR\n");
  }

  /** Does with the block what the document says; returns what the shell printed. Throws when a command failed. */
  async follow(block: Block, withinMs = 120_000): Promise<string> {
    if (block.language !== 'sh') {
      if (block.file === undefined) throw new Error(`line ${block.line}: the document does not say where to save it`);
      writeFileSync(join(this.directory, block.file), block.text);
      return '';
    }
    this.pasted += 1;
    const script = join(this.directory, `.pasted-${this.pasted}.sh`);
    writeFileSync(script, block.text);
    const end = `--- pasted ${this.pasted}: `;
    this.output = '';
    this.shell.stdin?.write(`failed=; source '${script}' < /dev/null; printf '\\n%s<%s>\\n' '${end}' "$failed"\n`);
    const all = await eventually(
      async () => this.output,
      (text) => new RegExp(`${end}<[^]*>\n`).test(text) || this.shell.exitCode !== null,
      withinMs,
    );
    const [printed = '', verdict] = all.split(`\n${end}`);
    if (verdict?.trim() !== '<>') throw new Error(`line ${block.line}: ${verdict ?? 'the shell ended'}\n${printed}`);
    return printed;
  }

  /** Ends the shell with all that it started. */
  close(): void {
    if (this.shell.pid !== undefined && this.shell.exitCode === null) process.kill(-this.shell.pid, 'SIGKILL');
  }
}
