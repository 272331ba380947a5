const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID; check before it reaches a uuid column, which refuses anything else. */
export const isUuid = (text: string): boolean => pattern.test(text);

/**
 * The canonical spelling of an id. PostgreSQL treats an upper-case UUID as equal; Temporal, the provider and string
 * comparison do not.
 */
export const canonicalId = (id: string): string => id.toLowerCase();
