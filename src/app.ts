import Router from '@koa/router';
import Koa from 'koa';
import { aclRoutes } from './access/acl.routes.ts';
import { addressesRoutes } from './addresses/addresses.routes.ts';
import { bankAccountsRoutes } from './bank-accounts/bank-accounts.routes.ts';
import { callbacksRoutes } from './callbacks/callbacks.routes.ts';
import { causeSummaryRoutes } from './causes/cause-summary.routes.ts';
import { causesRoutes } from './causes/causes.routes.ts';
import { circleSummaryRoutes } from './circles/circle-summary.routes.ts';
import { circleMembershipRoutes } from './circles/membership.routes.ts';
import { circlePlacesRoutes } from './circles/places.routes.ts';
import { savingCirclesRoutes } from './circles/saving-circles.routes.ts';
import { collectionsRoutes } from './collections/collections.routes.ts';
import { decisionsRoutes } from './decisions/decisions.routes.ts';
import type { Dependencies } from './dependencies.ts';
import { documentCategoriesRoutes } from './documents/categories.routes.ts';
import { documentsRoutes } from './documents/documents.routes.ts';
import { allocationRoutes } from './donations/allocation.routes.ts';
import { donationStatementsRoutes } from './donations/donation-statements.routes.ts';
import { donationsRoutes } from './donations/donations.routes.ts';
import { subscriptionsRoutes } from './donations/subscriptions.routes.ts';
import { erasureRoutes } from './erasure/erasure.routes.ts';
import { eventsRoutes } from './events/events.routes.ts';
import { exportsRoutes } from './exports/exports.routes.ts';
import { documentation } from './http/documentation.ts';
import { presentErrors } from './http/errors.ts';
import { limitPartnerRate } from './http/limit-partner-rate.ts';
import { createLiteralPaths } from './http/literal-paths.ts';
import { logRequests } from './http/log-requests.ts';
import { measureRequests } from './http/measure-requests.ts';
import { buildOpenApi } from './http/openapi.ts';
import { probes } from './http/probes.ts';
import { requestIds } from './http/request-id.ts';
import type { Route, RouteGroup } from './http/route-group.ts';
import { allowedOrigins, security } from './http/security.ts';
import { type Doors, refuseUnknown, serveRoute } from './http/serve-route.ts';
import { traceRequests } from './http/trace.ts';
import { authRoutes } from './identity/auth.routes.ts';
import { authenticate } from './identity/authenticate.ts';
import { totpRoutes } from './identity/totp.routes.ts';
import { usersRoutes } from './identity/users.routes.ts';
import { wellKnownRoutes } from './identity/well-known.routes.ts';
import { accountsRoutes } from './ledger/accounts.routes.ts';
import { statementsRoutes } from './ledger/statements.routes.ts';
import { transactionsRoutes } from './ledger/transactions.routes.ts';
import { officialDocumentsRoutes } from './official-documents/official-documents.routes.ts';
import { operationsRoutes } from './operations/operations.routes.ts';
import { operationsPages } from './operations/pages/pages.routes.ts';
import { organizationsRoutes } from './organizations/organizations.routes.ts';
import { errorPage } from './partners/error-catalogue.ts';
import { partnerRoutes } from './partners/partner.routes.ts';
import { partnerAccountsRoutes } from './partners/partner-accounts.routes.ts';
import { buildPartnerDocument } from './partners/partner-document.ts';
import { createPartnerDoor } from './partners/partner-door.ts';
import { partnerStory } from './partners/reference-story.ts';
import { partnerTexts } from './partners/reference-texts.ts';
import { paidPages } from './payments/paid-page.routes.ts';
import { paymentsRoutes } from './payments/payments.routes.ts';
import { receiptsRoutes } from './payments/receipts.routes.ts';
import { transfersRoutes } from './payments/transfers.routes.ts';
import { limitsRoutes } from './payouts/limits.routes.ts';
import { payoutsRoutes } from './payouts/payouts.routes.ts';
import { stuckPayoutsRoutes } from './payouts/stuck-payouts.routes.ts';
import { productsRoutes } from './products/products.routes.ts';
import { reconciliationsRoutes } from './reconciliation/reconciliations.routes.ts';
import { refundsRoutes } from './refunds/refunds.routes.ts';
import { savingGoalsRoutes } from './saving-goals/saving-goals.routes.ts';
import { settlementsRoutes } from './settlements/settlements.routes.ts';
import { version } from './version.ts';
import { partnerWebhooksRoutes } from './webhooks/partner-webhooks.routes.ts';
import { webhookDocuments } from './webhooks/webhook-documents.ts';
import { webhookEndpointsRoutes } from './webhooks/webhook-endpoints.routes.ts';
import { webhooksRoutes } from './webhooks/webhooks.routes.ts';
import { accountWithdrawalsRoutes } from './withdrawals/account-withdrawals.routes.ts';
import { disbursementsRoutes } from './withdrawals/disbursements.routes.ts';
import { withdrawalsRoutes } from './withdrawals/withdrawals.routes.ts';

/** Every route group of the API. */
export const routeGroups: readonly RouteGroup[] = [
  authRoutes,
  totpRoutes,
  wellKnownRoutes,
  usersRoutes,
  erasureRoutes,
  aclRoutes,
  organizationsRoutes,
  addressesRoutes,
  documentsRoutes,
  documentCategoriesRoutes,
  officialDocumentsRoutes,
  eventsRoutes,
  accountsRoutes,
  statementsRoutes,
  transfersRoutes,
  bankAccountsRoutes,
  accountWithdrawalsRoutes,
  withdrawalsRoutes,
  transactionsRoutes,
  paymentsRoutes,
  productsRoutes,
  savingGoalsRoutes,
  causesRoutes,
  disbursementsRoutes,
  causeSummaryRoutes,
  donationsRoutes,
  donationStatementsRoutes,
  allocationRoutes,
  subscriptionsRoutes,
  savingCirclesRoutes,
  circleMembershipRoutes,
  circlePlacesRoutes,
  circleSummaryRoutes,
  callbacksRoutes,
  partnerAccountsRoutes,
  webhooksRoutes,
  webhookEndpointsRoutes,
  partnerWebhooksRoutes,
  partnerRoutes,
  payoutsRoutes,
  limitsRoutes,
  settlementsRoutes,
  stuckPayoutsRoutes,
  receiptsRoutes,
  reconciliationsRoutes,
  exportsRoutes,
  decisionsRoutes,
  operationsRoutes,
  collectionsRoutes,
  refundsRoutes,
];

/** Sorts literal paths before parameters: the router takes the first pattern that matches. */
function byLiteralness(left: Route, right: Route): number {
  const key = ({ path }: Route) => path.replace(/:\w+/g, '\uffff');
  if (key(left) === key(right)) return 0;
  return key(left) < key(right) ? -1 : 1;
}

/** The HTTP application: the order of middleware and the list of route groups, nothing else. */
export function createApp(deps: Dependencies, groups: readonly RouteGroup[] = routeGroups): Koa {
  const { config, log, metrics } = deps;
  const origins = allowedOrigins(config);
  const doors: Doors = {
    authenticate: (request) => authenticate(request, origins),
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

  // Paths are case-sensitive: in another case one would escape the error envelope and the rate limit of its prefix.
  const router = new Router({ sensitive: true });
  const literalPaths = createLiteralPaths();
  for (const route of groups.flatMap((group) => group.routes).toSorted(byLiteralness)) {
    if (!route.access) throw new Error(`${route.method} ${route.path} declares no access`);
    if (route.access.kind === 'partner' && !doors.partner) throw new Error(`${route.path} needs the partner door`);
    const serve = serveRoute(route, deps, doors);
    if (route.path.includes(':')) router.register(route.path, [route.method], serve);
    else literalPaths.add(route.path, route.method, serve);
  }
  const described = { version, url: new URL(config.PUBLIC_URL).origin, webhooks: webhookDocuments };
  const routers = [
    router,
    probes(deps.readiness, config.NODE_ENV === 'production' ? null : metrics),
    documentation(
      buildOpenApi(groups, { ...described, partnerTexts, examples: partnerStory }),
      buildPartnerDocument(groups, described),
      errorPage(),
    ),
    paidPages(deps),
    operationsPages({ routeGroups: groups, deps, doors, origins }),
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
