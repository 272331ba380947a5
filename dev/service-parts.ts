import { join } from 'node:path';
import { type Part, type PartOptions, type PartPlace, startPart } from './part.ts';

const root = join(import.meta.dirname, '..');
const readyWithinMs = 90_000;

type ServiceOptions = PartPlace & Pick<PartOptions, 'env'>;

/** Starts the API as a deployment does. */
export const startApi = (options: ServiceOptions): Promise<Part> =>
  startPart({ ...options, name: 'The API', script: join(root, 'src', 'api.ts'), readyWithinMs });

/** Starts a worker as a deployment does. */
export const startWorker = (options: ServiceOptions): Promise<Part> =>
  startPart({ ...options, name: 'The worker', script: join(root, 'src', 'worker.ts'), readyWithinMs });
