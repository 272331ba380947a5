/** Prints rows under headings in aligned columns: text left-aligned, figures right-aligned. */
export function printTable(heads: readonly string[], rows: readonly (readonly string[])[]): void {
  const all = [heads, ...rows];
  const widths = heads.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const isFigure = (text: string) => /^-?[\d.]*$/.test(text);
  const line = (row: readonly string[]) =>
    row
      .map((text, column) => (isFigure(text) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  process.stdout.write(`\n${[line(heads), rule, ...rows.map(line)].join('\n')}\n`);
}
