import { defineEntity, p } from '@mikro-orm/core';
import type { ErasureStatus } from './erasure.ts';

const ErasureSchema = defineEntity({
  name: 'Erasure',
  tableName: 'erasures',
  properties: {
    id: p.uuid().primary(),
    user_id: p.uuid(),
    /** Null for an erasure that was repeated after a restore had removed its row. */
    decision_id: p.uuid().nullable(),
    status: p.text().$type<ErasureStatus>(),
    /** What blocks the erasure after its waiting time. */
    held_because: p.text().nullable(),
    begun_at: p.datetime(),
    erased_at: p.datetime().nullable(),
    ended_at: p.datetime().nullable(),
  },
});

/** The erasure of a person; see `erasure.ts`. */
export class Erasure extends ErasureSchema.class {}
ErasureSchema.setClass(Erasure);
