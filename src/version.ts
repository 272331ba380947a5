/** Of the product, as SemVer has it. */
export const version = '0.1.0';
