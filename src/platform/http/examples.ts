import { refPrefix, type Schema } from './json-schema.ts';

/** Example by field name; tried before what the format or type suggests. */
const byName: Record<string, unknown> = {
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
  uuid: '3f2b8c1e-9d4a-4b7e-8a61-2c5d7e9f0a13',
  'date-time': '2026-01-31T08:00:00.000Z',
  date: '2026-01-31',
  email: 'siti@example.org',
  uri: 'https://example.org',
  password: 'correct horse battery staple',
};

/** Adds an example to every JSON body and answer that has none. Changes the document and returns it. */
export function addExamples<T extends object>(document: T): T {
  const schemas = readSchemas(document);
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('content' in value && typeof value.content === 'object' && value.content !== null) {
      for (const [type, media] of Object.entries(value.content)) {
        if (/json/.test(type) && media.schema !== undefined && !('example' in media)) {
          media.example = exampleOf(media.schema, schemas);
        }
      }
      return;
    }
    for (const part of Object.values(value)) visit(part);
  };
  if ('paths' in document) visit(document.paths);
  if ('webhooks' in document) visit(document.webhooks);
  return document;
}

function readSchemas(document: object): Record<string, Schema> {
  const { components } = document as { components?: { schemas?: Record<string, Schema> } };
  return components?.schemas ?? {};
}

function exampleOf(schema: Schema, schemas: Record<string, Schema>, name = '', depth = 0): unknown {
  if (schema.$ref !== undefined)
    return exampleOf(schemas[schema.$ref.slice(refPrefix.length)] ?? {}, schemas, name, depth);
  if ('const' in schema) return schema.const;
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  if (schema.enum) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  const either = (schema.anyOf ?? schema.oneOf)?.[0];
  // A body that is one of several objects has type `object` without properties of its own.
  if (either && (schema.type === undefined || schema.properties === undefined))
    return exampleOf(either, schemas, name, depth);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => exampleOf(part, schemas, name, depth)));
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0];
  if (type === 'object') return exampleOfObject(schema, schemas, depth);
  if (type === 'array')
    return depth > 8 || !schema.items || schema.items.not ? [] : [exampleOf(schema.items, schemas, name, depth + 1)];
  if (type === 'integer' || type === 'number') return Math.max(1, schema.minimum ?? 1);
  if (type === 'boolean') return true;
  return type === 'string' ? exampleOfText(schema, name) : null;
}

function exampleOfObject(schema: Schema, schemas: Record<string, Schema>, depth: number): object {
  const fields = Object.entries(schema.properties ?? {}).filter(
    ([name]) => depth < 8 || schema.required?.includes(name),
  );
  return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(field, schemas, name, depth + 1)]));
}

function exampleOfText({ format, pattern, minLength = 0, maxLength = 200 }: Schema, name: string): string {
  const named = byName[name];
  const fits = (text: string) =>
    text.length >= minLength &&
    text.length <= maxLength &&
    (pattern === undefined || new RegExp(pattern, 'u').test(text));
  const candidates = [
    ...(typeof named === 'string' ? [named] : []),
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
