const bearer = /^Bearer +(\S+) *$/i;

/** The token of an `Authorization` header, however scheme and spaces are written; empty when there is none. */
export const bearerOf = (header: string): string => bearer.exec(header)?.[1] ?? '';
