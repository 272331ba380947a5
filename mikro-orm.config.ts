import { databaseConfig } from './src/wiring/open-database.ts';

/** For MikroORM's command line only (`npx mikro-orm ...`, with DATABASE_URL set); the processes read src/platform/config/config.ts. */
export default databaseConfig({ url: process.env.DATABASE_URL ?? 'postgresql://localhost:5432/amanah', poolSize: 2 });
