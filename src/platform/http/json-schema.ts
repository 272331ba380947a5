/** The parts of the document's JSON schemas that are read once it is built. */
export interface Schema {
  $ref?: string;
  description?: string;
  type?: string | readonly string[];
  const?: unknown;
  default?: unknown;
  enum?: readonly unknown[];
  examples?: readonly unknown[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  allOf?: readonly Schema[];
  items?: Schema;
  not?: object;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  format?: string;
  pattern?: string;
  minimum?: number;
  minLength?: number;
  maxLength?: number;
}

/** The prefix of a document's references to its named schemas. */
export const refPrefix = '#/components/schemas/';
