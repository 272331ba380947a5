import type { Context, Next } from 'koa';

type Serve = (ctx: Context & { params: Record<string, string> }) => Promise<void>;

/**
 * Looks up routes without parameters in a map, ahead of the router, which tries every pattern in turn and would read
 * `/organizations/sizes` as the id of an organization.
 */
export function createLiteralPaths() {
  const paths = new Map<string, Map<string, Serve>>();
  /** The path as registered; like the router, it ignores a trailing slash. */
  const spelled = (path: string) => (path.endsWith('/') ? path.slice(0, -1) : path);

  return {
    add(path: string, method: string, serve: Serve): void {
      const methods = paths.get(path) ?? new Map<string, Serve>();
      paths.set(path, methods.set(method.toUpperCase(), serve));
      if (method === 'get') methods.set('HEAD', serve);
    },
    /** Returns the methods of a path; null when it is not registered here. */
    methodsOf(path: string): string[] | null {
      const methods = paths.get(spelled(path));
      return methods ? [...methods.keys()].sort() : null;
    },
    /** Serves these routes; other methods on their paths go to `refuseMethod`, never to the router. */
    serve:
      (refuseMethod: (ctx: Context) => Promise<void>) =>
      (ctx: Context, next: Next): Promise<void> => {
        const path = spelled(ctx.path);
        const methods = paths.get(path);
        if (!methods) return next();
        const serve = methods.get(ctx.method);
        if (!serve) return refuseMethod(ctx);
        ctx._matchedRoute = path;
        return serve(Object.assign(ctx, { params: {} }));
      },
  };
}
