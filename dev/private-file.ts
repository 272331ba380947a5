import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** Writes JSON that only the owner may read, atomically: a killed writer leaves the old file. */
export function writePrivateJson(file: string, content: unknown): void {
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}

/** The JSON in a file, or undefined when the file cannot be read. */
export function readJson(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  return JSON.parse(text);
}
