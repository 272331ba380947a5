import type { RefusalsOf } from './document-refusals.ts';
import { isPartnerPath } from './errors.ts';
import type { FieldExamples } from './examples.ts';

/** What an operation is called with, and what it answers. */
export interface OperationExample {
  /** Values of parameters of path, query and header, by name. */
  parameters?: Readonly<Record<string, string | number>>;
  body?: unknown;
  /** The `data` of the answer. */
  answer: unknown;
}

/** Examples written by hand: of partners' operations by their id, and the bodies of webhooks by their type. */
export interface WrittenExamples {
  operations: Readonly<Record<string, OperationExample>>;
  webhooks: Readonly<Record<string, unknown>>;
  /** What each of these operations refuses, by status. */
  refusals: RefusalsOf;
  requestId: string;
  /** Of the fields of people and operators. */
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

/** Puts the examples into the document. An operation or webhook without one is left as it is. */
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
