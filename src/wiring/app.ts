import Router from '@koa/router';
import Koa from 'koa';
import { circleMembershipRoutes } from '../circles/membership.routes.ts';
import { circleSummaryRoutes, savingCirclesRoutes } from '../circles/saving-circles.routes.ts';
import { erasureRoutes } from '../control/erasure/erasure.routes.ts';
import { operationsRoutes } from '../control/operations/operations.routes.ts';
import { operationsPages } from '../control/operations/pages/pages.routes.ts';
import { searchRoutes } from '../control/operations/search.routes.ts';
import { reconciliationsRoutes } from '../control/reconciliation/reconciliations.routes.ts';
import { settlementsRoutes } from '../control/settlements/settlements.routes.ts';
import { causeSummaryRoutes } from '../giving/causes/cause-summary.routes.ts';
import { causesRoutes } from '../giving/causes/causes.routes.ts';
import { disbursementsRoutes } from '../giving/disbursements/disbursements.routes.ts';
import { allocationRoutes } from '../giving/donations/allocation.routes.ts';
import { donationStatementsRoutes } from '../giving/donations/donation-statements.routes.ts';
import { donationsRoutes } from '../giving/donations/donations.routes.ts';
import { subscriptionsRoutes } from '../giving/donations/subscriptions.routes.ts';
import { productsRoutes } from '../giving/products/products.routes.ts';
import { savingGoalsRoutes } from '../giving/saving-goals/saving-goals.routes.ts';
import { accountsRoutes } from '../ledger/accounts.routes.ts';
import { exportsRoutes } from '../ledger/exports/exports.routes.ts';
import { journalsRoutes } from '../ledger/exports/journals.routes.ts';
import { statementsRoutes } from '../ledger/statements.routes.ts';
import { transactionsRoutes } from '../ledger/transactions.routes.ts';
import { callbacksRoutes } from '../money-in/callbacks/callbacks.routes.ts';
import { collectionsRoutes } from '../money-in/collections/collections.routes.ts';
import { operatorsPaymentsRoutes } from '../money-in/collections/operators-payments.routes.ts';
import { partnerInstrumentsRoutes } from '../money-in/partner-instruments/partner-instruments.routes.ts';
import { paidPages } from '../money-in/payments/paid-page.routes.ts';
import { paymentsRoutes, transfersRoutes } from '../money-in/payments/payments.routes.ts';
import { receiptsRoutes } from '../money-in/payments/receipts.routes.ts';
import { accountChecksRoutes } from '../money-out/account-checks/account-checks.routes.ts';
import { decisionsRoutes } from '../money-out/decisions/decisions.routes.ts';
import { importedBatchesRoutes } from '../money-out/payout-batches/imported-batches.routes.ts';
import { operatorsBatchesRoutes } from '../money-out/payout-batches/operators-batches.routes.ts';
import { payoutBatchesRoutes } from '../money-out/payout-batches/payout-batches.routes.ts';
import { limitsRoutes } from '../money-out/payouts/limits.routes.ts';
import { operatorsPayoutsRoutes } from '../money-out/payouts/operators-payouts.routes.ts';
import { payoutsRoutes } from '../money-out/payouts/payouts.routes.ts';
import { refundsRoutes } from '../money-out/refunds/refunds.routes.ts';
import { accountWithdrawalsRoutes } from '../money-out/withdrawals/account-withdrawals.routes.ts';
import { withdrawalsRoutes } from '../money-out/withdrawals/withdrawals.routes.ts';
import { guideAssets } from '../partners/guide-assets.ts';
import { partnerRoutes } from '../partners/partner.routes.ts';
import { partnerAccountsRoutes } from '../partners/partner-accounts.routes.ts';
import { buildPartnerDocument, type PartnerDocument } from '../partners/partner-document.ts';
import { createPartnerDoor } from '../partners/partner-door.ts';
import { partnerWebhooksRoutes } from '../partners/webhooks/partner-webhooks.routes.ts';
import { webhookEndpointsRoutes } from '../partners/webhooks/webhook-endpoints.routes.ts';
import { webhooksRoutes } from '../partners/webhooks/webhooks.routes.ts';
import { aclRoutes } from '../people/access/acl.routes.ts';
import { addressesRoutes } from '../people/addresses/addresses.routes.ts';
import { bankAccountsRoutes } from '../people/bank-accounts/bank-accounts.routes.ts';
import { documentCategoriesRoutes } from '../people/documents/categories.routes.ts';
import { documentsRoutes } from '../people/documents/documents.routes.ts';
import { accountPages } from '../people/identity/account-pages.routes.ts';
import { authRoutes } from '../people/identity/auth.routes.ts';
import { authenticate } from '../people/identity/authenticate.ts';
import { recoveryRoutes } from '../people/identity/recovery.routes.ts';
import { totpRoutes } from '../people/identity/totp.routes.ts';
import { usersRoutes } from '../people/identity/users.routes.ts';
import { wellKnownRoutes } from '../people/identity/well-known.routes.ts';
import { bouncesRoutes } from '../people/mail/bounces.routes.ts';
import { officialDocumentsRoutes } from '../people/official-documents/official-documents.routes.ts';
import { organizationsRoutes } from '../people/organizations/organizations.routes.ts';
import { eventsRoutes } from '../platform/events/events.routes.ts';
import { documentation } from '../platform/http/documentation.ts';
import { presentErrors } from '../platform/http/errors.ts';
import { limitPartnerRate } from '../platform/http/limit-partner-rate.ts';
import { createLiteralPaths } from '../platform/http/literal-paths.ts';
import { logRequests } from '../platform/http/log-requests.ts';
import { measureRequests } from '../platform/http/measure-requests.ts';
import { probes } from '../platform/http/probes.ts';
import { requestIds } from '../platform/http/request-id.ts';
import type { Route, RouteGroup } from '../platform/http/route-group.ts';
import { allowedOrigins, security } from '../platform/http/security.ts';
import { type Doors, refuseUnknown, serveRoute } from '../platform/http/serve-route.ts';
import { traceRequests } from '../platform/http/trace.ts';
import { version } from '../shared/version.ts';
import { buildApiDocument } from './api-document.ts';
import type { Dependencies } from './dependencies.ts';
import { webhookDocuments } from './webhook-documents.ts';

/** Every route group of the API. */
export const routeGroups: readonly RouteGroup<Dependencies>[] = [
  authRoutes,
  recoveryRoutes,
  bouncesRoutes,
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
  circleSummaryRoutes,
  callbacksRoutes,
  partnerAccountsRoutes,
  webhooksRoutes,
  webhookEndpointsRoutes,
  partnerWebhooksRoutes,
  partnerRoutes,
  payoutsRoutes,
  payoutBatchesRoutes,
  importedBatchesRoutes,
  operatorsBatchesRoutes,
  accountChecksRoutes,
  limitsRoutes,
  settlementsRoutes,
  operatorsPayoutsRoutes,
  operatorsPaymentsRoutes,
  receiptsRoutes,
  reconciliationsRoutes,
  exportsRoutes,
  journalsRoutes,
  decisionsRoutes,
  operationsRoutes,
  searchRoutes,
  collectionsRoutes,
  partnerInstrumentsRoutes,
  refundsRoutes,
];

/** Sorts literal paths before parameters, as the router uses the first pattern that matches. */
function byLiteralness(left: Route, right: Route): number {
  const key = ({ path }: Route) => path.replace(/:\w+/g, '\uffff');
  if (key(left) === key(right)) return 0;
  return key(left) < key(right) ? -1 : 1;
}

/** Creates the HTTP application: orders the middleware and mounts the route groups, nothing else. */
export function createApp(deps: Dependencies, groups: readonly RouteGroup<Dependencies>[] = routeGroups): Koa {
  const { config, log, metrics } = deps;
  const origins = allowedOrigins(config);
  const doors: Doors = {
    authenticate: (request) => authenticate(request, { tokens: deps.tokens, findCaller: deps.findCaller, origins }),
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

  // Paths are case-sensitive: a different case would bypass the error envelope and the rate limit of the prefix.
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
  let reference: PartnerDocument | undefined;
  const readReference = () => (reference ??= buildPartnerDocument(groups, described));
  const routers = [
    router,
    probes(deps.readiness, config.NODE_ENV === 'production' ? null : metrics, deps.log),
    documentation(
      () => buildApiDocument(groups, described.url),
      readReference,
      guideAssets(
        {
          api: described.url,
          sandbox: config.NODE_ENV === 'production' || isProvider(config.XENDIT_URL) ? null : config.XENDIT_URL,
        },
        readReference,
      ),
    ),
    paidPages(deps),
    accountPages({ routeGroups: groups, deps, doors }),
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

/** Whether a URL is the provider's own, not a sandbox's. */
const isProvider = (url: string): boolean => new URL(url).hostname.endsWith('xendit.co');
