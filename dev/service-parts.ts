import { join } from 'node:path';
import { type Part, type PartOptions, type PartPlace, startPart } from './part.ts';

const root = join(import.meta.dirname, '..');
const readyWithinMs = 90_000;

type ServiceOptions = PartPlace & Pick<PartOptions, 'env'>;

/**
 * The Node options with which every deployment starts API and worker. Young objects, which a busy process allocates by
 * the million, get 16 MB (and as much again to be copied into) instead of V8's default of 32 to 64: 90 MB less memory
 * in the API, for hardly more CPU. Old ones get 384 MB, which also makes V8 collect garbage sooner: its default limit
 * follows the machine's memory, allowed gigabytes, and let the heap grow to four times the live objects. A worker has
 * two such heaps, because its workflows run in their own thread; both together stay below a container's 1 GB.
 */
export const serviceNodeOptions = ['--max-semi-space-size=16', '--max-old-space-size=384'];

/** Starts the API as a deployment does. */
export const startApi = (options: ServiceOptions): Promise<Part> =>
  startPart({
    ...options,
    name: 'The API',
    nodeOptions: serviceNodeOptions,
    script: join(root, 'src', 'api.ts'),
    readyWithinMs,
  });

/** Starts a worker as a deployment does. */
export const startWorker = (options: ServiceOptions): Promise<Part> =>
  startPart({
    ...options,
    name: 'The worker',
    nodeOptions: serviceNodeOptions,
    script: join(root, 'src', 'worker.ts'),
    readyWithinMs,
  });
