import { defineSearchAttributeKey, type SearchAttributePair, SearchAttributeType } from '@temporalio/common';

/** Search attributes (docs/contract.md 9). Histories keep their names forever. */
export const searchAttributeKeys = {
  PaymentState: defineSearchAttributeKey('PaymentState', SearchAttributeType.KEYWORD),
  PayoutState: defineSearchAttributeKey('PayoutState', SearchAttributeType.KEYWORD),
  ReferenceType: defineSearchAttributeKey('ReferenceType', SearchAttributeType.KEYWORD),
  PartnerId: defineSearchAttributeKey('PartnerId', SearchAttributeType.KEYWORD),
  OrganizationId: defineSearchAttributeKey('OrganizationId', SearchAttributeType.KEYWORD),
  AmountIdr: defineSearchAttributeKey('AmountIdr', SearchAttributeType.INT),
} as const;

/** The search attribute of an organization, if there is one. */
export const ofOrganization = (organizationId: string | null): SearchAttributePair[] =>
  organizationId === null ? [] : [{ key: searchAttributeKeys.OrganizationId, value: organizationId }];
