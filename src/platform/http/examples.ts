import { createHash } from 'node:crypto';
import { refPrefix, type Schema } from './json-schema.ts';

/** Examples for every field with the name; they precede those by format or type. */
const byName: FieldExamples = {
  email: 'siti@example.org',
  name: 'Siti Rahayu',
  customer_name: 'Budi Santoso',
  beneficiary_name: 'Budi Santoso',
  name_on_document: 'Siti Rahayu',
  phone_number: '+628123456789',
  password: 'correct horse battery staple',
  bank_code: 'BCA',
  bank_account_number: '1234567890',
  external_ref: 'invoice-2026-0042',
  reference: 'invoice-2026-0042',
  start_date: '2026-02-01',
  url: 'https://partner.example.org/webhooks',
  channel: 'BCA',
  note: 'Confirmed with the bank by telephone',
  message: 'Done',
};

const byFormat: Record<string, string> = {
  'date-time': '2026-01-31T08:00:00.000Z',
  date: '2026-01-31',
  email: 'siti@example.org',
  uri: 'https://example.org',
  password: 'correct horse battery staple',
};

/** Examples by the name of a field, of a field within another (`admin.name`), or under a tag (`Products.name`). */
export type FieldExamples = Readonly<Record<string, unknown>>;

interface Parameter {
  name: string;
  in: string;
  schema?: Schema;
  example?: unknown;
}
interface Operation {
  tags?: string[];
  parameters?: Parameter[];
  requestBody?: Content;
  responses?: Record<string, Content>;
}
type Content = { content?: Record<string, { schema?: Schema; example?: unknown }> };

/** The context of one operation's examples. */
interface Made {
  schemas: Record<string, Schema>;
  tag: string;
  named: FieldExamples;
}

/** Adds an example to every path parameter, JSON body and response without one. Changes the document and returns it. */
export function addExamples<T extends object>(document: T, named: FieldExamples = {}): T {
  const {
    paths = {},
    webhooks = {},
    components,
  } = document as {
    paths?: Record<string, Record<string, Operation>>;
    webhooks?: Record<string, Record<string, Operation>>;
    components?: { schemas?: Record<string, Schema> };
  };
  for (const operation of [paths, webhooks].flatMap(Object.values).flatMap(Object.values) as Operation[]) {
    const { tags = [], parameters = [], requestBody = {}, responses = {} } = operation;
    const made: Made = { schemas: components?.schemas ?? {}, tag: tags[0] ?? '', named: { ...byName, ...named } };
    for (const parameter of parameters) {
      if (parameter.in !== 'path' && !/idempotency-key$/i.test(parameter.name)) continue;
      parameter.example ??= exampleOf(parameter.schema ?? {}, made, [parameter.name]);
    }
    for (const [type, media] of [requestBody, ...Object.values(responses)].flatMap(({ content = {} }) =>
      Object.entries(content),
    )) {
      if (/json/.test(type) && media.schema !== undefined && !('example' in media)) {
        media.example = exampleOf(media.schema, made, []);
      }
    }
  }
  return document;
}

/** Returns an example for the schema of the field at `path`. */
function exampleOf(schema: Schema, made: Made, path: readonly string[]): unknown {
  if (schema.$ref !== undefined) return exampleOf(made.schemas[schema.$ref.slice(refPrefix.length)] ?? {}, made, path);
  if ('const' in schema) return schema.const;
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  if (schema.enum) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  const either = (schema.anyOf ?? schema.oneOf)?.[0];
  // A body that is one of several objects has type `object` without properties.
  if (either && (schema.type === undefined || schema.properties === undefined)) return exampleOf(either, made, path);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => exampleOf(part, made, path)));
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0];
  if (type === 'object') return exampleOfObject(schema, made, path);
  if (type === 'array')
    return path.length > 8 || !schema.items || schema.items.not ? [] : [exampleOf(schema.items, made, path)];
  const name = path.at(-1) ?? '';
  const named = [`${made.tag}.${name}`, `${path.at(-2)}.${name}`, name].map((key) => made.named[key]).find(isGiven);
  if (type === 'integer' || type === 'number')
    return typeof named === 'number' ? named : Math.max(1, schema.minimum ?? 1);
  if (type === 'boolean') return true;
  return type === 'string' ? exampleOfText(schema, { ...made, named }, name) : null;
}

const isGiven = (value: unknown): boolean => value !== undefined;

function exampleOfObject(schema: Schema, made: Made, path: readonly string[]): object {
  const fields = Object.entries(schema.properties ?? {}).filter(
    ([name]) => path.length < 8 || schema.required?.includes(name),
  );
  return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(field, made, [...path, name])]));
}

/** Returns one id per name, so that every `cause_id` in the document refers to the same cause. */
function idOf(of: string): string {
  const hex = createHash('sha256').update(of).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-8${hex.slice(15, 18)}-${hex.slice(18, 30)}`;
}

function exampleOfText(
  { format, pattern, minLength = 0, maxLength = 200 }: Schema,
  { named, tag }: { named: unknown; tag: string },
  name: string,
): string {
  const fits = (text: string) =>
    text.length >= minLength &&
    text.length <= maxLength &&
    (pattern === undefined || new RegExp(pattern, 'u').test(text));
  const candidates = [
    ...(typeof named === 'string' ? [named] : []),
    ...(format === 'uuid' ? [idOf(name === 'id' ? tag : name)] : []),
    ...(format !== undefined && byFormat[format] !== undefined ? [byFormat[format]] : []),
    name.replaceAll('_', ' '),
    '1',
    '50000.0000',
    'text',
    'a'.repeat(minLength),
    '0'.repeat(minLength),
  ];
  return candidates.find(fits) ?? '';
}
