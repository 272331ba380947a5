import type { Context, Next } from 'koa';

type Serve = (ctx: Context & { params: Record<string, string> }) => Promise<void>;

/**
 * Routes without parameters, found by their path at once: before the router, which tries every pattern in turn and would
 * take `/organizations/sizes` for an organization.
 */
export function createLiteralPaths() {
  const paths = new Map<string, Map<string, Serve>>();
  /** As it was added: a slash at the end is no other path, for the router neither. */
  const spelled = (path: string) => (path.endsWith('/') ? path.slice(0, -1) : path);

  return {
    add(path: string, method: string, serve: Serve): void {
      const methods = paths.get(path) ?? new Map<string, Serve>();
      paths.set(path, methods.set(method.toUpperCase(), serve));
      if (method === 'get') methods.set('HEAD', serve);
    },
    /** Null where no such path is. */
    methodsOf(path: string): string[] | null {
      const methods = paths.get(spelled(path));
      return methods ? [...methods.keys()].sort() : null;
    },
    /** Serves them; what has another method goes to `refuseMethod`, and never on to the router. */
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
