/** The verb for a method on a resource. */
const verbs: Readonly<Record<string, string>> = { post: 'create', put: 'set', patch: 'update', delete: 'delete' };

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
const camel = (segment: string): string =>
  segment
    .split(/[^a-zA-Z0-9]+/)
    .map(capital)
    .join('');
const isParameter = (segment: string | undefined): boolean => segment?.startsWith(':') === true;
const isPlural = (segment: string): boolean => /[^s]s$/.test(segment) && !segment.endsWith('status');
const singular = (segment: string): string =>
  isPlural(segment)
    ? segment
        .replace(/ies$/, 'y')
        .replace(/(ss|ch|sh|x)es$/, '$1')
        .replace(/(?<!s)s$/, '')
    : segment;

/** Names the resource named by the last parameter of a path, such as `webhook endpoint`. */
export const nounOf = (path: string): string =>
  singular(/([^/]+)\/:[^/]+(?:\/[^/:]+)*$/.exec(path)?.[1] ?? 'resource').replaceAll('-', ' ');

/** Operators' resources whose names partners' routes also use; ids must be unique in the document. */
const alsoPartners: Readonly<Record<string, string>> = { payouts: 'operators-payouts' };
/** Operations whose paths do not name the resource. */
const givenNames: Readonly<Record<string, string>> = {
  'post /v1/auth/login': 'logIn',
  'post /v1/auth/logout': 'logOut',
  'post /v1/auth/logout-all': 'logOutEverywhere',
  'put /v1/auth/password': 'changePassword',
  'get /v1/auth/me': 'getMe',
  'patch /v1/auth/me': 'updateMe',
  'post /v1/auth/signup': 'signUp',
  'post /v1/auth/email/confirmations': 'sendConfirmation',
  'post /v1/mail/bounces': 'receiveBounce',
  'post /v1/auth/invitations/accept': 'acceptInvitation',
  'post /v1/auth/totp': 'beginTotp',
  'post /v1/auth/totp/confirm': 'confirmTotp',
  'delete /v1/auth/totp': 'removeTotp',
  'post /v1/organizations/signup': 'signUpOrganization',
  'post /v1/documents/upload': 'uploadDocument',
  'post /v1/payments/gateway': 'createPayment',
  'post /v1/payments/balance': 'payFromBalance',
  'post /v1/saving-circles/contribute': 'contributeToSavingCircle',
  'post /v1/users/:user_id/erasure': 'eraseUser',
  'post /v1/users/:user_id/legal-hold': 'placeLegalHold',
  'patch /v1/charitable-causes/:id/approve': 'approveCharitableCause',
  'patch /v1/acl/assign-role': 'assignRole',
  'get /v1/payouts/stuck': 'listStuckPayouts',
  'get /.well-known/jwks.json': 'getSigningKeys',
};

/**
 * Names an operation like a client's method: `createPayment`, `listPayments`, `getPayment`, `cancelPayment`,
 * `getPaymentTimeline`. A POST to a singular last segment is an action on the preceding resource.
 */
export function operationId({ method, path }: { method: string; path: string }): string {
  const known = givenNames[`${method} ${path}`];
  if (known !== undefined) return known;
  const isPartners = path.startsWith('/v1/partners/');
  const segments = path
    .split('/')
    .filter((segment) => segment !== '' && segment !== 'v1' && segment !== 'partners')
    .map((segment, index) => (isPartners || index > 0 ? segment : (alsoPartners[segment] ?? segment)));
  const last = segments.at(-1) ?? '';
  const isAction = method === 'post' && segments.length > 1 && !isParameter(last) && !isPlural(last);
  const named = (isAction ? segments.slice(0, -1) : segments)
    .map((segment, index, all) => ({ segment, isOne: isParameter(all[index + 1]) || index < all.length - 1 }))
    .filter(({ segment }) => !isParameter(segment))
    .map(({ segment, isOne }) => camel(isOne || (method === 'post' && !isAction) ? singular(segment) : segment))
    .join('');
  if (isAction) return last.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) + named;
  if (method === 'get') return `${isParameter(last) || !isPlural(last) ? 'get' : 'list'}${named}`;
  return `${verbs[method] ?? method}${named}`;
}
