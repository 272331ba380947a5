import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** A node of a plan, as `explain (format json)` tells it. */
export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: PlanNode[];
}

/** A statement as it was run, with its plan. */
export interface RunStatement {
  sql: string;
  plan: PlanNode;
}

export const oneLine = (sql: string): string => sql.replaceAll(/\s+/g, ' ').trim();

/**
 * What auto_explain has written in the server's log since a place in it: the plan of every statement, those inside
 * functions and triggers too.
 */
export function readPlans(logFile: string, from: number): RunStatement[] {
  const found: RunStatement[] = [];
  let document: string[] | undefined;
  for (const line of textFrom(logFile, from).split('\n')) {
    if (document !== undefined && line.startsWith('\t')) {
      document.push(line.slice(1));
      continue;
    }
    if (document !== undefined) found.push(toStatement(document.join('\n')));
    document = / plan:$/.test(line) ? [] : undefined;
  }
  if (document !== undefined) found.push(toStatement(document.join('\n')));
  return found;
}

function toStatement(text: string): RunStatement {
  const { 'Query Text': sql, Plan: plan } = JSON.parse(text) as { 'Query Text': string; Plan: PlanNode };
  return { sql: oneLine(sql), plan };
}

export function sizeOf(file: string): number {
  const descriptor = openSync(file, 'r');
  try {
    return fstatSync(descriptor).size;
  } finally {
    closeSync(descriptor);
  }
}

function textFrom(file: string, from: number): string {
  const descriptor = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(fstatSync(descriptor).size - from);
    readSync(descriptor, bytes, 0, bytes.length, from);
    return bytes.toString('utf8');
  } finally {
    closeSync(descriptor);
  }
}

/** The tables that a plan reads from their beginning to their end. */
export function tablesReadWhole(plan: PlanNode): string[] {
  const isWhole = plan['Node Type'] === 'Seq Scan';
  const own = isWhole && plan['Relation Name'] !== undefined ? [plan['Relation Name']] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(tablesReadWhole)];
}

/** The indexes that a plan uses. */
export function indexesIn(plan: PlanNode): string[] {
  const own = plan['Index Name'] === undefined ? [] : [plan['Index Name']];
  return [...own, ...(plan.Plans ?? []).flatMap(indexesIn)];
}
