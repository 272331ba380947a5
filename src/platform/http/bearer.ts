const bearer = /^Bearer +(\S+) *$/i;

/**
 * Returns the token of an `Authorization: Bearer` header (scheme in any case, any spaces); empty when there is none.
 */
export const bearerOf = (header: string): string => bearer.exec(header)?.[1] ?? '';
