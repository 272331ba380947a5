const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID; asked before it meets a uuid column, which refuses anything else. */
export const isUuid = (text: string): boolean => pattern.test(text);

/**
 * The one spelling of an id. PostgreSQL takes a UUID in capitals for the same; to Temporal, to the provider and to a
 * comparison of texts it is another.
 */
export const canonicalId = (id: string): string => id.toLowerCase();
