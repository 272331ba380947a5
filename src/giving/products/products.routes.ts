import { z } from 'zod';
import { productTypes } from '../../people/documents/document.ts';
import { embedDocuments } from '../../people/documents/embed-documents.ts';
import { type DocumentView, embeddedDocumentsFields } from '../../people/documents/present-document.ts';
import { allow } from '../../platform/http/access.ts';
import { created } from '../../platform/http/answer.ts';
import { amount, moneyString, text, timestamp, uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { formatMoney, type Money } from '../../shared/money.ts';
import { createProduct } from './create-product.ts';
import { findProducts, getProduct } from './find-products.ts';
import type { Product } from './product.entity.ts';
import { productKinds, productLaw } from './product.ts';
import { updateProduct } from './update-product.ts';

const formatted = (amount: Money | null | undefined): Money | null => (amount ? formatMoney(amount) : null);

/** Returns a product as the API shows it; `currentAmount` is the balance of its account. */
const presentProduct = (product: Product, currentAmount: Money) => ({
  id: product.id,
  kind: product.kind,
  name: product.name,
  account_id: product.account_id,
  target_amount: formatted(product.target_amount),
  minimum_amount: formatted(product.minimum_amount),
  current_amount: currentAmount,
  status: product.status,
  created_at: product.created_at.toISOString(),
  updated_at: product.updated_at.toISOString(),
});

const ProductShape = z
  .object({
    id: uuid(),
    kind: z.enum(productKinds),
    name: z.string(),
    account_id: uuid(),
    target_amount: amount().nullable(),
    minimum_amount: amount().nullable(),
    current_amount: amount().meta({ description: 'The balance of its account.' }),
    status: z.enum(productLaw.statuses),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Product' });

const ProductAnswer = z.object({ message: z.string(), data: ProductShape });
const ProductDetailAnswer = z.object({
  message: z.string(),
  data: ProductShape.extend(embeddedDocumentsFields).meta({
    id: 'ProductDetail',
    description: 'Products of kind `investment` and `commodity_financing` have documents.',
  }),
});
const managers = allow('manage-product', { userTypes: ['platform'], scope: 'all' });
const readers = allow('read-product', { scope: 'all' });

const routes = createRouteGroup<DocumentView>({
  prefix: '/v1/products',
  tag: 'Products',
  description: 'Products that the platform offers: investments, financing, takaful. Each has its own account.',
});

routes.get(
  '/',
  {
    summary: 'List products',
    access: readers,
    query: listQuery().extend({
      kind: z.enum(productKinds).optional(),
      status: z.enum(productLaw.statuses).optional(),
    }),
    answers: {
      200: z.object({ message: z.string(), data: z.object({ items: z.array(ProductShape), ...pageFields }) }),
    },
  },
  async ({ em, query }) => {
    const { items, ...listed } = await findProducts(em, query);
    return {
      message: 'Products found',
      data: {
        items: items.map(({ product, currentAmount }) => presentProduct(product, currentAmount)),
        ...presentPage(query, listed),
      },
    };
  },
);

routes.post(
  '/',
  {
    summary: 'Create a product',
    access: managers,
    body: z.strictObject({
      kind: z.enum(productKinds),
      name: text(200),
      target_amount: moneyString().nullish(),
      minimum_amount: moneyString().nullish(),
    }),
    answers: { 201: ProductAnswer },
  },
  async ({ em, caller, body, requestId }) => {
    const { product, currentAmount } = await getProduct(em, await createProduct(em, caller, body, requestId));
    return created({ message: 'Product created', data: presentProduct(product, currentAmount) });
  },
);

routes.get(
  '/:product_id',
  {
    summary: 'Read a product',
    access: readers,
    params: z.object({ product_id: uuid() }),
    answers: { 200: ProductDetailAnswer },
    refusals: [404],
  },
  async ({ em, deps, caller, params }) => {
    const { product, currentAmount } = await getProduct(em, params.product_id);
    const type = productTypes.find((one) => one === product.kind);
    const embedded = type
      ? await embedDocuments(em, { caller, deps }, type, product.id)
      : { documents: [], documents_total: 0 };
    return { message: 'Product found', data: { ...presentProduct(product, currentAmount), ...embedded } };
  },
);

routes.patch(
  '/:product_id',
  {
    summary: 'Change a product',
    description: '`completed` is set when the target is reached. Raising the target reopens a full product.',
    access: managers,
    params: z.object({ product_id: uuid() }),
    body: z.strictObject({
      name: text(200).optional(),
      target_amount: moneyString().nullish(),
      minimum_amount: moneyString().nullish(),
      status: z.enum(productLaw.statuses).optional(),
    }),
    answers: { 200: ProductAnswer },
    refusals: [404],
  },
  async ({ em, caller, params, body, requestId }) => {
    await updateProduct(em, caller, { id: params.product_id, change: body, requestId });
    const { product, currentAmount } = await getProduct(em, params.product_id);
    return { message: 'Product changed', data: presentProduct(product, currentAmount) };
  },
);

export const productsRoutes = routes;
