import { join } from 'node:path';
import { type Part, type PartOptions, type PartPlace, startPart } from './part.ts';

const root = join(import.meta.dirname, '..');
const readyWithinMs = 90_000;

type ServiceOptions = PartPlace & Pick<PartOptions, 'env'>;

/**
 * How every deployment starts the Node of API and worker. Young objects, which a busy process makes by the million, get
 * 16 MB (and as much again to be copied into) instead of the 32 to 64 that V8 takes by itself: in the API 90 MB less
 * memory, at hardly more CPU. Old ones get 384 MB, with which V8 also lets garbage grow less before it looks for it: by
 * the memory of the machine it allowed itself gigabytes, and four times what was in use. A worker has two such heaps,
 * because its workflows run in a thread of their own; both together stay below a container's 1 GB.
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
