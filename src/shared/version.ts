/** The product's version (SemVer). */
export const version = '0.1.0';
