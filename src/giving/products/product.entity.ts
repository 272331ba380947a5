import { defineEntity, p } from '@mikro-orm/core';
import type { ProductKind, ProductStatus } from './product.ts';

const ProductSchema = defineEntity({
  name: 'Product',
  tableName: 'products',
  properties: {
    id: p.uuid().primary(),
    kind: p.text().$type<ProductKind>(),
    name: p.string().length(200),
    account_id: p.uuid(),
    target_amount: p.decimal().precision(20).scale(4).nullable(),
    minimum_amount: p.decimal().precision(20).scale(4).nullable(),
    status: p.text().$type<ProductStatus>(),
    created_by: p.uuid(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
  },
});

/** A product that the platform offers. Its account's balance is the amount collected. */
export class Product extends ProductSchema.class {}
ProductSchema.setClass(Product);
