import { refPrefix, type Schema } from './json-schema.ts';

interface Media {
  content?: Record<string, { schema?: Schema }>;
}
interface Operation {
  operationId?: string;
  parameters?: { name: string; description?: string; schema?: Schema }[];
  requestBody?: Media;
  responses?: Record<string, Media>;
}
interface Document {
  paths?: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, { post?: Operation }>;
  components?: { schemas?: Record<string, Schema> };
}

export type FieldTexts = Readonly<Record<string, string>>;

/** The scope for looking up webhook fields. */
const webhookScope = 'webhook';

/** Whether a schema allows null. */
const isNullable = ({ type, anyOf = [] }: Schema): boolean => [type].flat().includes('null') || anyOf.some(isNullable);

/** Derives the description of a conventional name: `cause_id`, `approved_at`, `approved_by`. */
function readName(name: string, schema: Schema): string | undefined {
  const [, words = '', ending] = /^(\w+)_(id|at|by)$/.exec(name) ?? [];
  const plain = words.replaceAll('_', ' ');
  if (ending === 'id') return `Id of the ${plain}${isNullable(schema) ? '; null without one' : ''}.`;
  if (ending === undefined || !plain.endsWith('ed')) return undefined;
  const [said, without] =
    ending === 'at'
      ? [`When it was ${plain}`, 'null until then']
      : [`Id of the user who ${plain} it`, 'null without one'];
  return `${said}${isNullable(schema) ? `; ${without}` : ''}.`;
}

/**
 * Adds a description to each field and parameter without one, in the operations under `prefix` and in the webhooks. The
 * tables are searched in order for `<scope>.<field>` (the scope is the named schema, without `Listed…` and `…Detail`,
 * the operation's id, or `webhook`), then for `<field>`. Returns the fields left without a description.
 */
export function describeFields(built: object, prefix: string, tables: readonly FieldTexts[]): string[] {
  const { paths = {}, webhooks = {}, components } = built as Document;
  const schemas = components?.schemas ?? {};
  const missing: string[] = [];
  const seen = new Set<string>();

  const textOf = (scope: string, name: string, schema: Schema = {}): string | undefined => {
    const keys = [`${scope}.${name}`, `${scope.replace(/^Listed|Detail$/g, '')}.${name}`, name];
    const found = tables.flatMap((texts) => keys.map((key) => texts[key])).find(Boolean);
    const text = found ?? readName(name, schema);
    if (text === undefined) missing.push(`${scope}.${name}`);
    return text;
  };
  const visit = (schema: Schema | undefined, scope: string): void => {
    if (schema === undefined) return;
    const name = schema.$ref?.slice(refPrefix.length);
    if (name !== undefined) {
      if (seen.has(name)) return;
      seen.add(name);
      visit(schemas[name], name);
      return;
    }
    for (const [field, value] of Object.entries(schema.properties ?? {})) {
      const named = value.$ref === undefined ? value : schemas[value.$ref.slice(refPrefix.length)];
      const text = value.description ?? named?.description ?? textOf(scope, field, value);
      if (text !== undefined) value.description = text;
      visit(value, scope);
    }
    for (const part of [schema.anyOf, schema.oneOf, schema.allOf].flatMap((parts) => parts ?? [])) visit(part, scope);
    visit(schema.items, scope);
  };
  const visitOperation = (operation: Operation, scope: string): void => {
    for (const parameter of operation.parameters ?? []) {
      const text = parameter.description ?? textOf(scope, parameter.name, parameter.schema);
      if (text !== undefined) parameter.description = text;
    }
    for (const media of [operation.requestBody, ...Object.values(operation.responses ?? {})]) {
      for (const { schema } of Object.values(media?.content ?? {})) visit(schema, scope);
    }
  };

  for (const [path, item] of Object.entries(paths)) {
    if (!path.startsWith(prefix)) continue;
    for (const operation of Object.values(item)) visitOperation(operation, operation.operationId ?? path);
  }
  for (const { post } of Object.values(webhooks)) if (post) visitOperation(post, webhookScope);
  return missing;
}
