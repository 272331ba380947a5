/**
 * Generates `sdk/generated.ts` from the API's OpenAPI document: the types of every operation under /v1/partners and of
 * the webhooks. Run it after changing one of those routes: npm run sdk:generate
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildPartnerDocument } from '../src/partners/partner-document.ts';
import { refPrefix, type Schema } from '../src/platform/http/json-schema.ts';
import { version } from '../src/shared/version.ts';
import { routeGroups } from '../src/wiring/app.ts';
import { webhookDocuments } from '../src/wiring/webhook-documents.ts';

interface Content {
  content?: Record<string, { schema?: Schema }>;
}
interface Parameter {
  in: string;
  name: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}
interface Operation {
  summary?: string;
  parameters?: Parameter[];
  requestBody?: Content;
  responses?: Record<string, Content>;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post?: Operation }>;
  components: { schemas: Record<string, Schema> };
}

/** The schema of every error response, with its codes. */
const refusal = 'PartnerError';
const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** The text of the generated file, for the API of this source tree. */
export function generateTypes(): string {
  const built = buildPartnerDocument(routeGroups, { version, url: 'http://localhost', webhooks: webhookDocuments });
  const document: Document = JSON.parse(JSON.stringify(built));
  const used = new Set([refusal]);
  const operations = Object.entries(document.paths)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([path, item]) =>
      methods.flatMap((method) => {
        const operation = item[method];
        return operation === undefined ? [] : [printOperation(`${method.toUpperCase()} ${path}`, operation, used)];
      }),
    );
  const webhooks = Object.entries(document.webhooks).map(([name, { post }]) => {
    const schema = post?.requestBody?.content?.['application/json']?.schema ?? {};
    return `  '${name}': ${print(schema, used, 1)};`;
  });
  const printed = new Map<string, string>();
  // Printing a schema may add further names.
  for (let rest = [...used]; rest.length > 0; rest = [...used].filter((name) => !printed.has(name))) {
    for (const name of rest) printed.set(name, print(document.components.schemas[name] ?? {}, used, 0));
  }
  const schemas = [...printed].toSorted(([left], [right]) => (left < right ? -1 : 1));
  return `// Generated from the OpenAPI document by dev/generate-sdk.ts; not edited by hand.

${schemas.map(([name, text]) => `export type ${name} = ${text};\n`).join('\n')}
/** Every operation of a partner: its path parameters, query, body and the \`data\` of its answer. */
export interface Operations {
${operations.join('\n')}
}

/** The body of each webhook by its type. */
export interface Webhooks {
${webhooks.join('\n')}
}
`;
}

function printOperation(name: string, operation: Operation, used: Set<string>): string {
  const { parameters = [] } = operation;
  const group = (place: string) => print(asObject(parameters.filter((parameter) => parameter.in === place)), used, 2);
  const body = operation.requestBody?.content?.['application/json']?.schema;
  const answer = operation.responses?.['200']?.content?.['application/json']?.schema?.properties?.data;
  return `  /** ${operation.summary ?? name}. */
  '${name}': {
    params: ${group('path')};
    query: ${group('query')};
    body: ${body === undefined ? 'undefined' : print(body, used, 2)};
    answer: ${print(answer ?? {}, used, 2)};
  };`;
}

/** Parameters as the fields of one object. */
function asObject(parameters: readonly Parameter[]): Schema {
  const properties = Object.fromEntries(
    parameters.map(({ name, schema, description }) => [name, { ...schema, ...(description && { description }) }]),
  );
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
  return { type: 'object', properties, required };
}

function print(schema: Schema, used: Set<string>, depth: number): string {
  if (schema.$ref?.startsWith(refPrefix)) {
    const name = schema.$ref.slice(refPrefix.length);
    used.add(name);
    return name;
  }
  if ('const' in schema) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  const several = schema.anyOf ?? schema.oneOf;
  if (several) return [...new Set(several.map((part) => print(part, used, depth)))].join(' | ');
  if (schema.allOf) return schema.allOf.map((part) => print(part, used, depth)).join(' & ');
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => print({ ...schema, type }, used, depth)).join(' | ');
  }
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array': {
      const items = print(schema.items ?? {}, used, depth);
      return / [|&] /.test(items) ? `(${items})[]` : `${items}[]`;
    }
    case 'object':
      return printObject(schema, used, depth);
    default:
      return 'unknown';
  }
}

function printObject({ properties = {}, required = [] }: Schema, used: Set<string>, depth: number): string {
  const names = Object.keys(properties);
  if (names.length === 0) return 'Record<string, never>';
  const indent = '  '.repeat(depth + 1);
  const lines = Object.entries(properties).map(([name, schema]) => {
    const note = schema.description ? `${indent}/** ${schema.description} */\n` : '';
    return `${note}${indent}${name}${required.includes(name) ? '' : '?'}: ${print(schema, used, depth + 1)};`;
  });
  return `{\n${lines.join('\n')}\n${'  '.repeat(depth)}}`;
}

const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value));

export const generatedFile = join(import.meta.dirname, '..', 'sdk', 'generated.ts');

if (import.meta.main) {
  writeFileSync(generatedFile, generateTypes());
  process.exit(0);
}
