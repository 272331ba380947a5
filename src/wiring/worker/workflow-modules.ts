import { fileURLToPath } from 'node:url';

const inWorkflows = (name: string): string => fileURLToPath(new URL(`../../../workflows/${name}.ts`, import.meta.url));

/** The module that exports every workflow. */
export const workflowsPath = inWorkflows('index');

/**
 * Interceptors around every workflow, in every bundle: the workflow side of tracing, whether traces are on or off, so
 * that histories recorded with traces replay without them; the one that lets money workflows continue when asked to
 * cancel; the one that routes activities to their task queues; and the one that writes summaries for people.
 */
export const workflowInterceptorModules = ['carry-trace', 'go-on', 'route-steps', 'summaries'].map(inWorkflows);

/**
 * Evaluated once for each worker instead of once for each workflow: all modules of the bundle. So none of them may keep
 * anything of a workflow in a variable of its own; what they export is frozen, and a test looks at the rest.
 */
export const preloadModules = [inWorkflows('short-stacks'), workflowsPath, ...workflowInterceptorModules];
