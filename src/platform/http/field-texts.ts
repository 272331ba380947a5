import { refPrefix, type Schema } from './json-schema.ts';

interface Media {
  content?: Record<string, { schema?: Schema }>;
}
interface Operation {
  operationId?: string;
  parameters?: { name: string; description?: string }[];
  requestBody?: Media;
  responses?: Record<string, Media>;
}
interface Document {
  paths?: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, { post?: Operation }>;
  components?: { schemas?: Record<string, Schema> };
}

export type FieldTexts = Readonly<Record<string, string>>;

/** The scope under which fields of webhooks are looked up. */
const webhookScope = 'webhook';

/**
 * Adds a description to each field and parameter that has none, in the operations under `prefix` and in the webhooks.
 * It is looked up as `<scope>.<field>` (scope: the named schema, the operation's id or `webhook`), then as `<field>`.
 * Returns the fields left without a text.
 */
export function describeFields(built: object, prefix: string, texts: FieldTexts): string[] {
  const { paths = {}, webhooks = {}, components } = built as Document;
  const schemas = components?.schemas ?? {};
  const missing: string[] = [];
  const seen = new Set<string>();

  const textOf = (scope: string, name: string): string | undefined => {
    const text = texts[`${scope}.${name}`] ?? texts[name];
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
      const text = value.description ?? named?.description ?? textOf(scope, field);
      if (text !== undefined) value.description = text;
      visit(value, scope);
    }
    for (const part of [schema.anyOf, schema.oneOf, schema.allOf].flatMap((parts) => parts ?? [])) visit(part, scope);
    visit(schema.items, scope);
  };
  const visitOperation = (operation: Operation, scope: string): void => {
    for (const parameter of operation.parameters ?? []) {
      const text = parameter.description ?? textOf(scope, parameter.name);
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
