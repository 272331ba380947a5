const { createHash } = require('node:crypto');
const { stripTypeScriptTypes } = require('node:module');

/** The whole of our TypeScript compiler under jest: blank the types out, keep every line where it is. */
module.exports = {
  process: (source) => ({ code: stripTypeScriptTypes(source) }),
  getCacheKey: (source) => createHash('sha256').update(process.version).update(source).digest('hex'),
};
