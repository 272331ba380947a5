import { fileURLToPath } from 'node:url';

const inWorkflows = (name: string): string => fileURLToPath(new URL(`../../../workflows/${name}.ts`, import.meta.url));

/** The module that exports every workflow. */
export const workflowsPath = inWorkflows('index');

/**
 * Interceptors around every workflow, in every bundle: tracing, whether traces are on or off, so that histories
 * recorded with traces replay without them; ignoring cancellation of money workflows; routing activities to their task
 * queues; and writing summaries for people.
 */
export const workflowInterceptorModules = ['carry-trace', 'go-on', 'route-steps', 'summaries'].map(inWorkflows);

/**
 * All modules of the bundle are evaluated once per worker instead of once per workflow, so none may keep a workflow's
 * state in a module variable. Their exports are frozen, and a test checks the rest.
 */
export const preloadModules = [inWorkflows('short-stacks'), workflowsPath, ...workflowInterceptorModules];
