import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** A node of a plan, as `explain (format json)` returns it. */
export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: PlanNode[];
}

/** An executed statement with its plan. */
export interface RunStatement {
  sql: string;
  plan: PlanNode;
}

export const oneLine = (sql: string): string => sql.replaceAll(/\s+/g, ' ').trim();

/**
 * Yields the statements, with their plans, that auto_explain has logged since a position in the file.
 */
export async function* readPlans(logFile: string, from: number): AsyncGenerator<RunStatement> {
  let document: string[] | undefined;
  for await (const line of createInterface({ input: createReadStream(logFile, { start: from }) })) {
    if (document !== undefined && line.startsWith('\t')) {
      document.push(line.slice(1));
      continue;
    }
    if (document !== undefined) yield toStatement(document.join('\n'));
    document = / plan:$/.test(line) ? [] : undefined;
  }
  if (document !== undefined) yield toStatement(document.join('\n'));
}

function toStatement(text: string): RunStatement {
  const { 'Query Text': sql, Plan: plan } = JSON.parse(text) as { 'Query Text': string; Plan: PlanNode };
  return { sql: oneLine(sql), plan };
}

const partition = /_(\d{4}_\d{2}|default)(?=_|$)/;

/** Returns the table of a partition, and the name of any other relation unchanged. */
export const tableOf = (relation: string): string => relation.replace(partition, '');

/** Returns the tables and partitions that a plan scans completely. */
export function tablesReadWhole(plan: PlanNode): string[] {
  const isWhole = plan['Node Type'] === 'Seq Scan';
  const own = isWhole && plan['Relation Name'] !== undefined ? [plan['Relation Name']] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(tablesReadWhole)];
}

/** Returns the indexes that a plan uses. */
export function indexesIn(plan: PlanNode): string[] {
  const own = plan['Index Name'] === undefined ? [] : [plan['Index Name']];
  return [...own, ...(plan.Plans ?? []).flatMap(indexesIn)];
}
