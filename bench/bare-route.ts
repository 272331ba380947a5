import { createServer } from 'node:http';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import Koa from 'koa';
import pg from 'pg';
import { z } from 'zod';
import { readPartOptions } from '../dev/part.ts';

/** The minimal payment over HTTP: Koa, a token, one call of the bare transfer function. */
const options = z
  .object({
    port: z.int(),
    databaseUrl: z.string(),
    poolSize: z.int(),
    jwks: z.custom<JSONWebKeySet>((value) => typeof value === 'object'),
    issuer: z.string(),
    audience: z.string(),
  })
  .parse(readPartOptions());
const pool = new pg.Pool({ connectionString: options.databaseUrl, max: options.poolSize });
pool.on('error', () => process.exit(1));
const keys = createLocalJWKSet(options.jwks);
const Body = z.strictObject({ source: z.uuid(), target: z.uuid(), amount: z.number().positive() });

const app = new Koa();
app.use(async (ctx) => {
  const { issuer, audience } = options;
  const token = ctx.get('authorization').slice('Bearer '.length);
  await jwtVerify(token, keys, { algorithms: ['EdDSA'], issuer, audience });
  const chunks: Buffer[] = [];
  for await (const chunk of ctx.req) chunks.push(chunk);
  const { source, target, amount } = Body.parse(JSON.parse(Buffer.concat(chunks).toString()));
  const { rows } = await pool.query('select bare_transfer($1, $2, $3) as balance', [source, target, amount]);
  ctx.status = 201;
  ctx.body = { new_balance: rows[0].balance };
});
createServer(app.callback()).listen(options.port, '127.0.0.1', () => process.send?.({ ready: true }));
process.once('disconnect', () => process.exit(0));
