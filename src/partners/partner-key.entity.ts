import { defineEntity, p } from '@mikro-orm/core';
import type { PartnerPermission } from './partner.ts';

const PartnerKeySchema = defineEntity({
  name: 'PartnerKey',
  tableName: 'partner_keys',
  properties: {
    id: p.uuid().primary(),
    partner_id: p.uuid(),
    prefix: p.string().length(16),
    key_hash: p.text(),
    signing_secret_sealed: p.text(),
    permissions: p.array().$type<PartnerPermission[]>(),
    /** Whether requests without the signature over the whole request are refused. */
    require_signature_v2: p.boolean().default(false),
    rotated_from: p.uuid().nullable(),
    created_by: p.uuid().nullable(),
    created_at: p.datetime(),
    /** Set by a rotation: when the key stops working alongside its successor. */
    valid_until: p.datetime().nullable(),
    revoked_at: p.datetime().nullable(),
  },
});

/** An API key, stored as a hash; its signing secret is sealed. */
export class PartnerKey extends PartnerKeySchema.class {}
PartnerKeySchema.setClass(PartnerKey);
