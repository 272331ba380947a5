import Router from '@koa/router';
import Koa from 'koa';
import { aclRoom } from './access/acl.routes.ts';
import { addressesRoom } from './addresses/addresses.routes.ts';
import { callbacksRoom } from './callbacks/callbacks.routes.ts';
import { causeSummaryRoom } from './causes/cause-summary.routes.ts';
import { causesRoom } from './causes/causes.routes.ts';
import { circleSummaryRoom } from './circles/circle-summary.routes.ts';
import { circleMembershipRoom } from './circles/membership.routes.ts';
import { savingCirclesRoom } from './circles/saving-circles.routes.ts';
import { collectionsRoom } from './collections/collections.routes.ts';
import { decisionsRoom } from './decisions/decisions.routes.ts';
import type { Dependencies } from './dependencies.ts';
import { documentCategoriesRoom } from './documents/categories.routes.ts';
import { documentsRoom } from './documents/documents.routes.ts';
import { allocationRoom } from './donations/allocation.routes.ts';
import { donationsRoom } from './donations/donations.routes.ts';
import { subscriptionsRoom } from './donations/subscriptions.routes.ts';
import { eventsRoom } from './events/events.routes.ts';
import { documentation } from './http/documentation.ts';
import { presentErrors } from './http/errors.ts';
import { limitPartnerRate } from './http/limit-partner-rate.ts';
import { createLiteralPaths } from './http/literal-paths.ts';
import { logRequests } from './http/log-requests.ts';
import { measureRequests } from './http/measure-requests.ts';
import { buildOpenApi } from './http/openapi.ts';
import { probes } from './http/probes.ts';
import { requestIds } from './http/request-id.ts';
import type { Room, Route } from './http/room.ts';
import { allowedOrigins, security } from './http/security.ts';
import { type Doors, refuseUnknown, serveRoute } from './http/serve-route.ts';
import { traceRequests } from './http/trace.ts';
import { authRoom } from './identity/auth.routes.ts';
import { authenticate } from './identity/authenticate.ts';
import { totpRoom } from './identity/totp.routes.ts';
import { usersRoom } from './identity/users.routes.ts';
import { wellKnownRoom } from './identity/well-known.routes.ts';
import { accountsRoom } from './ledger/accounts.routes.ts';
import { statementsRoom } from './ledger/statements.routes.ts';
import { transactionsRoom } from './ledger/transactions.routes.ts';
import { officialDocumentsRoom } from './official-documents/official-documents.routes.ts';
import { operationsRoom } from './operations/operations.routes.ts';
import { operationsPages } from './operations/pages/pages.routes.ts';
import { organizationsRoom } from './organizations/organizations.routes.ts';
import { partnerRoom } from './partners/partner.routes.ts';
import { partnerAccountsRoom } from './partners/partner-accounts.routes.ts';
import { createPartnerDoor } from './partners/partner-door.ts';
import { paymentsRoom } from './payments/payments.routes.ts';
import { receiptsRoom } from './payments/receipts.routes.ts';
import { transfersRoom } from './payments/transfers.routes.ts';
import { limitsRoom } from './payouts/limits.routes.ts';
import { payoutsRoom } from './payouts/payouts.routes.ts';
import { stuckPayoutsRoom } from './payouts/stuck-payouts.routes.ts';
import { productsRoom } from './products/products.routes.ts';
import { reconciliationsRoom } from './reconciliation/reconciliations.routes.ts';
import { savingGoalsRoom } from './saving-goals/saving-goals.routes.ts';
import { version } from './version.ts';
import { webhookDocuments } from './webhooks/webhook-documents.ts';
import { webhooksRoom } from './webhooks/webhooks.routes.ts';

/** Every room of the API, by name. */
export const rooms: readonly Room[] = [
  authRoom,
  totpRoom,
  wellKnownRoom,
  usersRoom,
  aclRoom,
  organizationsRoom,
  addressesRoom,
  documentsRoom,
  documentCategoriesRoom,
  officialDocumentsRoom,
  eventsRoom,
  accountsRoom,
  statementsRoom,
  transfersRoom,
  transactionsRoom,
  paymentsRoom,
  productsRoom,
  savingGoalsRoom,
  causesRoom,
  causeSummaryRoom,
  donationsRoom,
  allocationRoom,
  subscriptionsRoom,
  savingCirclesRoom,
  circleMembershipRoom,
  circleSummaryRoom,
  callbacksRoom,
  partnerAccountsRoom,
  webhooksRoom,
  partnerRoom,
  payoutsRoom,
  limitsRoom,
  stuckPayoutsRoom,
  receiptsRoom,
  reconciliationsRoom,
  decisionsRoom,
  operationsRoom,
  collectionsRoom,
];

/** What is literal before parameters: the router takes the first pattern that fits. */
function byLiteralness(left: Route, right: Route): number {
  const key = ({ path }: Route) => path.replace(/:\w+/g, '\uffff');
  if (key(left) === key(right)) return 0;
  return key(left) < key(right) ? -1 : 1;
}

/** The HTTP application: the order of middleware and the list of rooms, nothing else. */
export function createApp(deps: Dependencies, house: readonly Room[] = rooms): Koa {
  const { config, log, metrics } = deps;
  const origins = allowedOrigins(config);
  const doors: Doors = {
    authenticate: (knock) => authenticate(knock, origins),
    partner: createPartnerDoor(deps.sealer),
  };

  const app = new Koa({ proxy: config.TRUST_PROXY ?? false, maxIpsCount: 1 });
  app.on('error', (error: Error) => log.debug({ err: error }, 'a connection ended early'));
  app.use(requestIds);
  app.use(traceRequests);
  app.use(logRequests(log));
  app.use(measureRequests(metrics));
  for (const middleware of security(origins)) app.use(middleware);
  app.use(presentErrors(log));
  app.use(limitPartnerRate(config.RATE_LIMIT_REQUESTS_PER_10S));

  // A path has one spelling: in another case it would escape the envelope and the rate limit of its prefix.
  const router = new Router({ sensitive: true });
  const literalPaths = createLiteralPaths();
  for (const route of house.flatMap((room) => room.routes).toSorted(byLiteralness)) {
    if (!route.access) throw new Error(`${route.method} ${route.path} declares no access`);
    if (route.access.kind === 'partner' && !doors.partner) throw new Error(`${route.path} needs the partner door`);
    const serve = serveRoute(route, deps, doors);
    if (route.path.includes(':')) router.register(route.path, [route.method], serve);
    else literalPaths.add(route.path, route.method, serve);
  }
  const document = buildOpenApi(house, { version, url: new URL(config.PUBLIC_URL).origin, webhooks: webhookDocuments });
  const routers = [
    router,
    probes(deps.readiness, config.NODE_ENV === 'production' ? null : metrics),
    documentation(document),
    operationsPages({ rooms: house, deps, doors, origins }),
  ];
  const refuse = refuseUnknown((path) => literalPaths.methodsOf(path) ?? methodsOf(routers, path));
  app.use(literalPaths.serve(refuse));
  for (const { routes: serve } of routers.map((part) => ({ routes: part.routes() }))) app.use(serve);
  app.use(refuse);
  return app;
}

function methodsOf(routers: readonly Router[], path: string): string[] {
  const layers = routers.flatMap((router) => router.match(path, 'GET').path);
  return [...new Set(layers.flatMap(({ methods }) => methods))].sort();
}
