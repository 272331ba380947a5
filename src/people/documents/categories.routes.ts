import { z } from 'zod';
import { allow, signedIn } from '../../platform/http/access.ts';
import { created } from '../../platform/http/answer.ts';
import { text, uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import type { DocumentCategory } from './document-category.entity.ts';
import { createCategory, listCategories, updateCategory } from './keep-category.ts';

const routes = createRouteGroup({ prefix: '/v1/documents/categories', tag: 'Documents' });

const message = z.string();
const name = text(100);
const CategoryAnswer = z.object({ id: uuid(), name: z.string() }).meta({ id: 'DocumentCategory' });
const One = z.object({ message, data: CategoryAnswer });
const platform = allow('manage-document-category', { userTypes: ['platform'], scope: 'all' });

const presentCategory = ({ id, name }: DocumentCategory) => ({ id, name });

routes.get(
  '/',
  {
    summary: 'List the categories of documents',
    access: signedIn({ scope: 'all' }),
    query: listQuery(),
    answers: { 200: z.object({ message, data: z.object({ items: z.array(CategoryAnswer), ...pageFields }) }) },
  },
  async ({ em, query }) => {
    const { items, ...listed } = await listCategories(em, query);
    return { message: 'Categories found', data: { items: items.map(presentCategory), ...presentPage(query, listed) } };
  },
);

routes.post(
  '/',
  {
    summary: 'Create a category of documents',
    access: platform,
    body: z.strictObject({ name }),
    answers: { 201: One },
  },
  async ({ em, caller, body, requestId }) => {
    const category = await createCategory(em, { caller, requestId, name: body.name });
    return created({ message: 'Category created', data: presentCategory(category) });
  },
);

routes.patch(
  '/:id',
  {
    summary: 'Rename a category of documents',
    access: platform,
    params: z.object({ id: uuid() }),
    body: z.strictObject({ name: name.optional() }),
    answers: { 200: One },
    refusals: [404],
  },
  async ({ em, caller, params: { id }, body, requestId }) => {
    const category = await updateCategory(em, { caller, requestId, id, name: body.name });
    return { message: 'Category updated', data: presentCategory(category) };
  },
);

export const documentCategoriesRoutes = routes;
