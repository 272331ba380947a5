import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';

/** A block of a guide page: pasted into the shell, or saved under the file name in the text. */
export interface Block {
  /** The heading above the block. */
  under: string;
  language: string;
  text: string;
  /** The file name in the paragraph before the block. */
  file?: string;
}

const unescaped = (html: string): string =>
  html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** The words of a page as a reader sees them, without its menu. */
export const wordsOf = (html: string): string[] =>
  unescaped(html.slice(html.indexOf('<main>')))
    .split(/\s+/)
    .filter((word) => word !== '');

/** Every block of a served page, in order. */
export function blocksOf(html: string): Block[] {
  const found: Block[] = [];
  for (const match of html.matchAll(/<pre><code class="language-(\w+)">(.*?)<\/code><\/pre>/gs)) {
    const [, language = '', text = ''] = match;
    const before = html.slice(0, match.index);
    const under = unescaped(
      before
        .split(/<h[12][^>]*>/)
        .at(-1)
        ?.split('</h')[0] ?? '',
    );
    const paragraph = unescaped(before.trimEnd().split('<p>').at(-1) ?? '');
    const file = /save (?:it|this)\s+as ([\w.-]+\w)/i.exec(paragraph)?.[1];
    found.push({ under, language, text: unescaped(text), ...(file && { file }) });
  }
  return found;
}

/** A shell into which a reader pastes block after block, in an empty directory. */
export class Reader {
  private readonly directory: string;
  private readonly shell: ChildProcess;
  private output = '';
  private pasted = 0;

  constructor(directory: string, env: Record<string, string>) {
    this.directory = directory;
    // In its own process group, so that `close` also kills background processes of the document.
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

  /** Follows the document's instruction for the block; returns the shell's output. Throws if a command fails. */
  async follow(block: Block, withinMs = 120_000): Promise<string> {
    if (block.language !== 'sh') {
      if (block.file === undefined) throw new Error(`${block.under}: the page does not say where to save it`);
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
    if (verdict?.trim() !== '<>') throw new Error(`${block.under}: ${verdict ?? 'the shell exited'}\n${printed}`);
    return printed;
  }

  /** Kills the shell and everything it started. */
  close(): void {
    if (this.shell.pid !== undefined && this.shell.exitCode === null) process.kill(-this.shell.pid, 'SIGKILL');
  }
}
