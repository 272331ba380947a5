import type { EntityClass, EntityManager } from '@mikro-orm/postgresql';

/** The part of a `pg` client that is used here; its types are only a transitive dependency, through the ORM. */
interface Client {
  query(config: unknown, ...rest: unknown[]): unknown;
}

const mark = '/* prepared */ ';
/** For each statement as written in the code, its marked text with numbered parameters. */
const texts = new Map<string, string>();
/** For each marked text, the name of its prepared statement. */
const names = new Map<string, string>();

function textOf(sql: string): string {
  const known = texts.get(sql);
  if (known !== undefined) return known;
  if (/\w\.\*/.test(sql)) throw new Error('a prepared statement must name its columns');
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
 * Runs a statement of the hot path, in the manager's transaction if there is one. Each connection prepares it once and
 * sends its parameters separately, whereas `em.execute` writes them into a new text each time. Only for constant
 * statements, as each is cached forever; every `?` is a parameter. Throws for `select *`, which would fail on every
 * connection once a migration added a column.
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

/**
 * Lists the columns of an entity's table that this release defines, such as `p.id, p.status`, for `executePrepared`.
 */
export const columnsOf = <T extends object>(em: EntityManager, entity: EntityClass<T>, alias: string): string =>
  em
    .getMetadata(entity)
    .props.filter(({ persist }) => persist !== false)
    .flatMap(({ fieldNames }) => fieldNames.map((name) => `${alias}.${name}`))
    .join(', ');

/** Makes a connection run marked statements as prepared ones. */
export function prepareMarkedStatements(client: Client): void {
  const query = client.query.bind(client);
  client.query = (config, ...rest) => {
    const [values, ...others] = rest;
    const name = typeof config === 'string' && Array.isArray(values) ? names.get(config) : undefined;
    return name === undefined ? query(config, ...rest) : query({ name, text: config, values }, ...others);
  };
}
