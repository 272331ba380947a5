import { defineEntity, p } from '@mikro-orm/core';

const LegalHoldSchema = defineEntity({
  name: 'LegalHold',
  tableName: 'legal_holds',
  properties: {
    id: p.uuid().primary(),
    user_id: p.uuid(),
    /** References, never personal data. */
    note: p.text(),
    placed_by: p.uuid(),
    placed_at: p.datetime(),
    lifted_by: p.uuid().nullable(),
    lifted_at: p.datetime().nullable(),
  },
});

/** Blocks a person's erasure until it is lifted, no matter who decides to erase them. */
export class LegalHold extends LegalHoldSchema.class {}
LegalHoldSchema.setClass(LegalHold);
