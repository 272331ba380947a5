import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

/** Search attributes (decisions 9). Their names live in histories for ever. */
export const searchAttributeKeys = {
  PaymentState: defineSearchAttributeKey('PaymentState', SearchAttributeType.KEYWORD),
  PayoutState: defineSearchAttributeKey('PayoutState', SearchAttributeType.KEYWORD),
  ReferenceType: defineSearchAttributeKey('ReferenceType', SearchAttributeType.KEYWORD),
  PartnerId: defineSearchAttributeKey('PartnerId', SearchAttributeType.KEYWORD),
  OrganizationId: defineSearchAttributeKey('OrganizationId', SearchAttributeType.KEYWORD),
  AmountIdr: defineSearchAttributeKey('AmountIdr', SearchAttributeType.INT),
} as const;
