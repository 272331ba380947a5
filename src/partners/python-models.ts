import { refPrefix, type Schema } from '../platform/http/json-schema.ts';

type Content = { content?: Record<string, { schema?: Schema }> } | undefined;
interface Operation {
  operationId: string;
  parameters?: { in: string; name: string; required?: boolean; schema: Schema; description?: string }[];
  requestBody?: Content;
  responses: Record<string, Content>;
}
interface Described {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: { schemas: Record<string, Schema> };
}

const bodyOf = (content: Content): Schema | undefined => content?.content?.['application/json']?.schema;
const pascal = (words: string): string =>
  words.replace(/(?:^|[^a-zA-Z])([a-zA-Z])/g, (_, letter: string) => letter.toUpperCase());

/**
 * The schemas of the models by name: the document's own, and each operation's unnamed `…Body`, `…Query` and `…Answer`
 * (the `data` of its response).
 */
function namedSchemas({ paths, webhooks, components }: Described): Map<string, Schema> {
  const schemas = new Map(Object.entries(components.schemas));
  const name = (as: string, schema: Schema | undefined): void => {
    if (schema?.properties) schemas.set(as, schema);
  };
  for (const operation of Object.values(paths).flatMap((item) => Object.values(item))) {
    const called = pascal(operation.operationId);
    name(`${called}Body`, bodyOf(operation.requestBody));
    name(`${called}Answer`, bodyOf(operation.responses['200'])?.properties?.data);
    const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
    if (query.length === 0) continue;
    const properties = Object.fromEntries(
      query.map(({ name: field, schema, description = '' }) => [field, { ...schema, description }]),
    );
    name(`${called}Query`, {
      properties,
      required: query.filter(({ required }) => required).map(({ name: field }) => field),
    });
  }
  for (const [type, { post }] of Object.entries(webhooks)) name(`${pascal(type)}Webhook`, bodyOf(post.requestBody));
  return schemas;
}

const plain: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};
/** Reserved words of Python. */
const keywords = new Set(['from']);
const literal = (value: unknown): string =>
  value === true ? 'True' : value === false ? 'False' : JSON.stringify(value);

/** The Python client's module with the document's types as typed dictionaries. */
export function printPythonModels(document: object): string {
  const described: Described = JSON.parse(JSON.stringify(document));
  const printed: string[] = [];

  const typeOf = (schema: Schema & { additionalProperties?: Schema }, name: string): string => {
    if (schema.$ref !== undefined) return schema.$ref.slice(refPrefix.length);
    if ('const' in schema) return `Literal[${literal(schema.const)}]`;
    if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`;
    const several =
      schema.anyOf ??
      schema.oneOf ??
      (Array.isArray(schema.type) ? schema.type.map((type) => ({ ...schema, type })) : undefined);
    if (several) return [...new Set(several.map((part) => typeOf(part, name)))].join(' | ');
    if (schema.type === 'array') return `list[${typeOf(schema.items ?? {}, name)}]`;
    if (schema.properties) return declare(schema, name);
    if (schema.type === 'object') return `dict[str, ${typeOf(schema.additionalProperties ?? {}, name)}]`;
    return plain[String(schema.type)] ?? 'Any';
  };

  /** Prints a class after the classes that it uses; returns its name. */
  const declare = ({ properties = {}, required = [] }: Schema, name: string): string => {
    const fields = Object.entries(properties).map(([field, schema]) => {
      const type = typeOf(schema, name + pascal(field));
      return { field, type: required.includes(field) ? type : `NotRequired[${type}]`, text: schema.description };
    });
    const lines = fields.map(({ field, type, text }) =>
      [`    ${field}: ${type}`, ...(text ? [`    """${text.replaceAll('\\', '\\\\')} """`] : [])].join('\n'),
    );
    const pairs = fields.map(({ field, type }) => `    "${field}": ${JSON.stringify(type)},`);
    printed.push(
      fields.some(({ field }) => keywords.has(field))
        ? `${name} = TypedDict("${name}", {\n${pairs.join('\n')}\n})`
        : `class ${name}(TypedDict):\n${lines.join('\n') || '    pass'}`,
    );
    return name;
  };

  for (const [name, schema] of namedSchemas(described)) declare(schema, name);
  const webhooks = Object.keys(described.webhooks).map((type) => `${pascal(type)}Webhook`);
  return `"""The types of the partner API, generated from its OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict, Union

${printed.join('\n\n\n')}


Webhook = Union[${webhooks.join(', ')}]
`;
}
