import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { errorCodeOf } from '../../shared/errors.ts';

const tracer = trace.getTracer('amanah/database');

/** The part of a `pg` client that is used here. */
interface Client {
  query(config: unknown, ...rest: unknown[]): unknown;
}

/** Returns a statement's operation and table, such as `UPDATE payouts`: few distinct values, and no data. */
export function summaryOf(statement: string): { operation: string; table: string | undefined } {
  const sql = statement.replace(/\/\*.*?\*\/\s*/g, '').trimStart();
  const [, change, changed] = /\b(insert into|update|delete from)\s+(?:only\s+)?"?(\w+)/i.exec(sql) ?? [];
  if (change !== undefined) return { operation: (change.split(' ')[0] ?? '').toUpperCase(), table: changed };
  const operation = (/^\w+/.exec(sql)?.[0] ?? 'SELECT').toUpperCase();
  return { operation, table: /\bfrom\s+"?(\w+)/i.exec(sql)?.[1] };
}

/**
 * Records a span for each statement of a traced request or step. Attributes are those of OpenTelemetry's conventions
 * for databases, without text and parameters, which may contain data that must not leave the process.
 */
export function traceStatements(client: Client, url: string): void {
  const { hostname, port, pathname } = new URL(url);
  const where = {
    'db.system.name': 'postgresql',
    'db.namespace': pathname.slice(1),
    'server.address': hostname,
    'server.port': Number(port) || 5432,
  };
  const query = client.query.bind(client);
  client.query = (config, ...rest) => {
    if (trace.getActiveSpan() === undefined || typeof config !== 'string') return query(config, ...rest);
    const { operation, table } = summaryOf(config);
    const summary = table === undefined ? operation : `${operation} ${table}`;
    const attributes = {
      ...where,
      'db.operation.name': operation,
      'db.query.summary': summary,
      ...(table !== undefined && { 'db.collection.name': table }),
    };
    const span = tracer.startSpan(summary, { kind: SpanKind.CLIENT, attributes });
    return Promise.resolve(query(config, ...rest))
      .catch((error: unknown) => {
        const code = String(errorCodeOf(error) ?? '_OTHER');
        span.setAttributes({ 'db.response.status_code': code, 'error.type': code });
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      })
      .finally(() => span.end());
  };
}
