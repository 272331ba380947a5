export {
  type Answer,
  type CreateOptions,
  createPartnerClient,
  type PartnerClient,
  type PartnerClientOptions,
} from './client.ts';
export { NoAnswerError, PartnerApiError } from './errors.ts';
export type * from './generated.ts';
export { type VerifiedWebhook, verifyWebhook, type Webhook, WebhookError, type WebhookHeaders } from './webhook.ts';
