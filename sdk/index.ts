export {
  type Answer,
  type CallOptions,
  type CreateOptions,
  createPartnerClient,
  type PartnerClient,
  type PartnerClientOptions,
  type PayoutOptions,
} from './client.ts';
export { type Draw, DrawError, makeEntropy, type OwnEntropy, verifyDraw } from './draw.ts';
export { type ErrorCode, type ErrorDetails, NoAnswerError, PartnerApiError } from './errors.ts';
export type * from './generated.ts';
export { type VerifiedWebhook, verifyWebhook, type Webhook, WebhookError, type WebhookHeaders } from './webhook.ts';
