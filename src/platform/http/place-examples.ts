import type { RefusalsOf } from './document-refusals.ts';
import { isPartnerPath } from './errors.ts';
import type { FieldExamples } from './examples.ts';

/** An example request and response of an operation. */
export interface OperationExample {
  /** Values of path, query and header parameters, by name. */
  parameters?: Readonly<Record<string, string | number>>;
  body?: unknown;
  /** The `data` of the response. */
  answer: unknown;
}

/** Handwritten examples: partners' operations by id, and webhook bodies by type. */
export interface WrittenExamples {
  operations: Readonly<Record<string, OperationExample>>;
  webhooks: Readonly<Record<string, unknown>>;
  /** The refusals of each of these operations, by status. */
  refusals: RefusalsOf;
  requestId: string;
  /** For fields of people and operators. */
  app?: FieldExamples;
}

interface Media {
  example?: unknown;
}
type Content = { content?: Record<string, Media> } | undefined;
interface Operation {
  operationId?: string;
  parameters?: { name: string; example?: unknown }[];
  requestBody?: Content;
  responses?: Record<string, Content>;
}
interface Document {
  paths?: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, { post?: Operation }>;
}

const show = (content: Content, example: unknown): void => {
  const media = content?.content?.['application/json'];
  if (media !== undefined && example !== undefined) media.example = example;
};

/** Puts the examples into the document. Operations and webhooks without one are left unchanged. */
export function placeExamples(built: object, { operations, webhooks, requestId }: WrittenExamples): void {
  const { paths = {}, webhooks: told = {} } = built as Document;
  const partners = Object.entries(paths).filter(([path]) => isPartnerPath(path));
  for (const operation of partners.flatMap(([, item]) => Object.values(item))) {
    const written = operations[operation.operationId ?? ''];
    if (written === undefined) continue;
    for (const parameter of operation.parameters ?? []) {
      const value = written.parameters?.[parameter.name];
      if (value !== undefined) parameter.example = value;
    }
    show(operation.requestBody, written.body);
    show(operation.responses?.['200'], { data: written.answer, request_id: requestId });
  }
  for (const [type, { post }] of Object.entries(told)) show(post?.requestBody, webhooks[type]);
}
