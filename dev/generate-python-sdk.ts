/**
 * Generates `amanah_partner/models.py` from the OpenAPI document, by datamodel-code-generator in a virtual environment of
 * its own: what `npm run sdk:generate` does after the TypeScript types.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPartnerDocument } from '../src/partners/partner-document.ts';
import { refPrefix, type Schema } from '../src/platform/http/json-schema.ts';
import { version } from '../src/shared/version.ts';
import { routeGroups } from '../src/wiring/app.ts';
import { webhookDocuments } from '../src/wiring/webhook-documents.ts';
import { asObject, type Parameter } from './generate-sdk.ts';
import { makePythonEnvironment, whyNoPython } from './python.ts';

type Content = { content?: Record<string, { schema: Schema }> } | undefined;
interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: Content;
  responses: Record<string, Content>;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: { schemas: Record<string, Schema> };
}

const here = join(import.meta.dirname, '..', 'sdk', 'python');
export const modelsFile = join(here, 'amanah_partner', 'models.py');
/** The pinned generator, and what checks the client's types. */
export const toolRequirements = join(here, 'requirements-dev.txt');

const bodyOf = (content: Content): Schema | undefined => content?.content?.['application/json']?.schema;
const pascal = (words: string): string =>
  words.replace(/(?:^|[^a-zA-Z])([a-zA-Z])/g, (_, letter: string) => letter.toUpperCase());

/**
 * The schemas of which the models are made, each under a name: those of the document, and for each operation its
 * `…Body`, `…Query` and `…Answer` (the `data` of its answer) where the document has them without a name.
 */
export function schemasForModels(): object {
  const built = buildPartnerDocument(routeGroups, { version, url: 'http://localhost', webhooks: webhookDocuments });
  const document: Document = JSON.parse(JSON.stringify(built));
  const { schemas } = document.components;
  const name = (as: string, schema: Schema | undefined): void => {
    if (schema !== undefined && schema.$ref === undefined) schemas[as] = schema;
  };
  for (const operation of Object.values(document.paths).flatMap((item) => Object.values(item))) {
    const called = pascal(operation.operationId);
    name(`${called}Body`, bodyOf(operation.requestBody));
    name(`${called}Answer`, bodyOf(operation.responses['200'])?.properties?.data);
    const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
    if (query.length > 0) schemas[`${called}Query`] = asObject(query);
  }
  const webhooks = Object.entries(document.webhooks).map(([type, { post }]) => {
    const called = `${pascal(type)}Webhook`;
    name(called, bodyOf(post.requestBody));
    return { $ref: refPrefix + called };
  });
  schemas.Webhook = { anyOf: webhooks };
  return { openapi: '3.1.0', info: { title: 'Amanah', version: '1' }, paths: {}, components: { schemas } };
}

/** The line by which the models say of which schemas they were made. */
export const madeOf = (schemas: string): string => `# Made of ${createHash('sha256').update(schemas).digest('hex')}`;

/** The models' text, by the tools in the environment. */
export function generateModels(bin: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'amanah-models-'));
  try {
    const schemas = JSON.stringify(schemasForModels());
    const [input, output] = [join(directory, 'schemas.json'), join(directory, 'models.py')];
    writeFileSync(input, schemas);
    const header = [
      '# Generated from the OpenAPI document by `npm run sdk:generate`; not edited by hand.',
      madeOf(schemas),
      '# ruff: noqa',
    ];
    const options = [
      ['--input', input, '--input-file-type', 'openapi', '--output', output],
      ['--output-model-type', 'typing.TypedDict', '--target-python-version', '3.11', '--formatters', 'builtin'],
      ['--enum-field-as-literal', 'all', '--no-use-closed-typed-dict', '--collapse-root-models'],
      ['--use-field-description', '--use-schema-description', '--disable-timestamp'],
      ['--custom-file-header', header.join('\n')],
    ];
    execFileSync(join(bin, 'datamodel-codegen'), options.flat(), { stdio: ['ignore', 'inherit', 'inherit'] });
    return readFileSync(output, 'utf8');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const missing = whyNoPython();
  if (missing !== null) {
    process.stderr.write(`The Python client's models stay as they are: ${missing}.\n`);
    process.exit(1);
  }
  const directory = mkdtempSync(join(tmpdir(), 'amanah-python-'));
  try {
    writeFileSync(modelsFile, generateModels(makePythonEnvironment(directory, toolRequirements)));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  process.exit(0);
}
