import type { EntityManager } from '@mikro-orm/postgresql';

/** What is needed of a client of `pg`; its own types are a dependency of the ORM's. */
interface Client {
  query(config: unknown, ...rest: unknown[]): unknown;
}

const mark = '/* prepared */ ';
/** Texts by which statements stand in the code, with their parameters numbered and marked. */
const texts = new Map<string, string>();
/** The name under which connections prepare each of them. */
const names = new Map<string, string>();

function textOf(sql: string): string {
  const known = texts.get(sql);
  if (known !== undefined) return known;
  let parameters = 0;
  const numbered =
    mark +
    sql.replaceAll('?', () => {
      parameters += 1;
      return `$${parameters}`;
    });
  texts.set(sql, numbered);
  names.set(numbered, `amanah-${names.size}`);
  return numbered;
}

/**
 * Runs a statement of the hot path in the manager's transaction, if it is in one. Each connection parses and plans it
 * once and its parameters travel apart from it, where `em.execute` writes them into a text that is new each time. For
 * statements that stand in the code, never for ones made from a request; every `?` is a parameter.
 */
export async function executePrepared<Row>(
  em: EntityManager,
  sql: string,
  parameters: readonly unknown[],
): Promise<Row[]> {
  const text = textOf(sql);
  em.config.getLogger().logQuery({ query: sql });
  const { rows } = await em.getKysely().executeQuery({
    sql: text,
    parameters,
    query: { kind: 'RawNode', sqlFragments: [text], parameters: [] },
    queryId: { queryId: text },
  });
  return rows as Row[];
}

/** Makes a connection prepare the statements that are marked for it. */
export function prepareMarkedStatements(client: Client): void {
  const query = client.query.bind(client);
  client.query = (config, ...rest) => {
    const [values, ...others] = rest;
    const name = typeof config === 'string' && Array.isArray(values) ? names.get(config) : undefined;
    return name === undefined ? query(config, ...rest) : query({ name, text: config, values }, ...others);
  };
}
