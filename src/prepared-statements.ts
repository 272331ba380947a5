/** What is needed of a client of `pg`; its own types are a dependency of the ORM's. */
interface Client {
  query(config: unknown, ...rest: unknown[]): unknown;
}

const mark = '/* prepared */ ';
/** Statements differ by their text, of which there are few: those of the code. */
const maximumStatements = 200;
const names = new Map<string, string>();

/**
 * Marks a statement of the hot path: each connection parses and plans it once. For texts that stand in the code, never
 * for texts made from a request.
 */
export const prepared = (sql: string): string => mark + sql;

function nameOf(sql: string): string | undefined {
  const known = names.get(sql);
  if (known !== undefined || names.size >= maximumStatements) return known;
  const name = `amanah-${names.size}`;
  names.set(sql, name);
  return name;
}

/** Makes a connection prepare the statements that are marked for it. */
export function prepareMarkedStatements(client: Client): void {
  const query = client.query.bind(client);
  client.query = (config, ...rest) => {
    const [values, ...others] = rest;
    if (typeof config !== 'string' || !config.startsWith(mark) || !Array.isArray(values)) return query(config, ...rest);
    const name = nameOf(config);
    return name === undefined ? query(config, ...rest) : query({ name, text: config, values }, ...others);
  };
}
