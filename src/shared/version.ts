/** The product's version (SemVer). */
export const version = '1.0.0';
