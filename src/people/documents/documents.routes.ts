import { z } from 'zod';
import type { Config } from '../../platform/config/config.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordRead } from '../../platform/events/record-event.ts';
import { allow, open } from '../../platform/http/access.ts';
import { answer, created } from '../../platform/http/answer.ts';
import { text, uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { receiveFile } from '../../platform/http/receive-file.ts';
import { createRouteGroup, type RouteGroup } from '../../platform/http/route-group.ts';
import { validate } from '../../platform/http/validate.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { budgets } from '../../shared/budgets.ts';
import { refuse } from '../../shared/errors.ts';
import { isUuid } from '../../shared/uuid.ts';
import { deleteDocument } from './delete-document.ts';
import type { Document } from './document.entity.ts';
import { documentTypes, maximumFileBytes, productTypes, viewUrlLifetimeSeconds, visibilities } from './document.ts';
import { showFileName } from './file-name.ts';
import { getDocument, getPublicDocument, listDocuments } from './find-documents.ts';
import { DocumentAnswer, type DocumentView, presentDocument } from './present-document.ts';
import { registerDocument } from './register-document.ts';
import type { ProductOwners } from './require-product.ts';
import { storeDocument } from './store-document.ts';
import { openUrl } from './stored-url.ts';
import { updateDocument } from './update-document.ts';
import { createUploadSlots } from './upload-slots.ts';

/** Returns a document's storage key and a new URL that downloads the file under its name for fifteen minutes. */
async function viewDocument(
  { storage, sealer }: { storage: Storage; sealer: Sealer },
  document: Document,
): Promise<{ key: string; viewUrl: string }> {
  const key = await openUrl(sealer, document);
  const extension = /^(?:image|video|application)\/(pdf|png|jpeg|gif|webp|mp4|webm|zip)$/.exec(document.content_type);
  const viewUrl = await storage.signViewUrl(key, {
    fileName:
      (await showFileName(sealer, document)) ??
      `${document.document_type}-${document.id}${extension ? `.${extension[1]}` : ''}`,
    lifetimeSeconds: viewUrlLifetimeSeconds,
  });
  return { key, viewUrl };
}

const message = z.string();
const scopeOfReading = "own, the organization's and public ones, without colleagues' identity scans; all for platform";
const scopeOfChanging = "own; the organization's for its admins; all for platform";
const params = z.object({ id: uuid() });
const filters = {
  category_id: uuid().optional(),
  product_type: z.enum(productTypes).optional(),
  product_id: uuid().optional(),
};
const One = z.object({ message, document: DocumentAnswer });
const Many = z.object({ message, documents: z.array(DocumentAnswer), ...pageFields });

const UploadFields = z.strictObject({
  document_type: z.enum(documentTypes),
  product_type: z.enum(productTypes),
  product_id: uuid(),
  visibility: z.enum(visibilities).default('private'),
  category_id: uuid().optional(),
});
const UploadShape = UploadFields.extend({
  file: z.string().meta({ override: { type: 'string', format: 'binary' }, description: 'At most 52,428,800 bytes.' }),
});

interface Ports extends DocumentView {
  config: DocumentView['config'] & Pick<Config, 'UPLOADS_PER_USER' | 'UPLOADS_IN_ALL' | 'STORED_BYTES_PER_USER'>;
  storage: Storage;
  productOwners: ProductOwners;
}

/** Creates the documents routes. They abort an upload that sends nothing for `stallTimeoutMs`. */
export function createDocumentsRoutes({ stallTimeoutMs = budgets.upload.stalled } = {}): RouteGroup<Ports> {
  const slots = createUploadSlots();
  const routes = createRouteGroup<Ports>({
    prefix: '/v1/documents',
    tag: 'Documents',
    description: 'Files of product records in object storage. A profile picture is not a document.',
  });

  routes.post(
    '/upload',
    {
      summary: 'Upload a file',
      description:
        'One file per call, with its fields. Both file and document are created, or neither; create the parent ' +
        'record first. The type is detected from the content, except for plain texts (`text/plain`, `text/csv`, ' +
        '`text/tab-separated-values`, `text/markdown`), where the part declares it. Too many simultaneous uploads ' +
        'by a user or in the process: 429; beyond the user’s limit of stored bytes: 400.',
      access: allow('upload-document', {
        scope: 'products of the caller, of its organization, or managed; platform: any',
      }),
      upload: { contentType: 'multipart/form-data', schema: UploadShape },
      answers: { 201: DocumentAnswer.extend({ message }) },
      refusals: [400, 408, 413, 429],
    },
    async ({ em, deps, caller, ctx, requestId }) => {
      const { UPLOADS_PER_USER, UPLOADS_IN_ALL, STORED_BYTES_PER_USER } = deps.config;
      using _slot = slots.take(caller.userId, { perUser: UPLOADS_PER_USER, inAll: UPLOADS_IN_ALL });
      await using file = await receiveFile(ctx, { field: 'file', maximumBytes: maximumFileBytes, stallTimeoutMs });
      const fields = validate(UploadFields, file.fields);
      const document = await storeDocument(em, deps, {
        caller,
        requestId,
        documentType: fields.document_type,
        productType: fields.product_type,
        productId: fields.product_id,
        visibility: fields.visibility,
        categoryId: fields.category_id ?? null,
        maximumStoredBytes: STORED_BYTES_PER_USER,
        object: file,
        fileName: file.fileName,
        open: file.open,
      });
      return created({ message: 'Document uploaded', ...(await presentDocument(document, deps)) });
    },
  );

  routes.post(
    '/',
    {
      summary: 'Create a document for an object already in storage',
      description:
        'The object must have been uploaded by the caller or by a user of its organization (others 400, a missing ' +
        'one 404); several documents may share one object. A file of a document that the caller may not see ' +
        'counts as another’s. Beyond the user’s limit of stored bytes: 400.',
      access: allow('create-document', { scope: "objects of the caller or of the caller's organization" }),
      body: z.strictObject({
        url: text(255),
        document_type: z.enum(documentTypes),
        product_type: z.enum(productTypes).optional(),
        product_id: uuid().optional(),
        visibility: z.enum(visibilities).default('private'),
        category_id: uuid().nullish(),
      }),
      answers: { 201: One },
      refusals: [404],
    },
    async ({ em, deps, caller, body, requestId }) => {
      const { url, document_type: documentType, product_type: productType = null, product_id: productId = null } = body;
      const { category_id: categoryId = null, visibility } = body;
      const { STORED_BYTES_PER_USER: maximumStoredBytes } = deps.config;
      const fields = { url, documentType, productType, productId, visibility, categoryId };
      const document = await registerDocument(em, deps, { caller, requestId, ...fields, maximumStoredBytes });
      return created({ message: 'Document created', document: await presentDocument(document, deps) });
    },
  );

  routes.get(
    '/',
    {
      summary: 'List documents',
      access: allow('read-document', { scope: scopeOfReading }),
      query: listQuery().extend(filters),
      answers: { 200: Many },
    },
    async ({ em, deps, caller, query }) => {
      const { category_id, product_type, product_id, ...window } = query;
      const filter = { category_id, product_type, product_id };
      const { items, ...listed } = await listDocuments(em, caller, { ...window, filter });
      const documents = await Promise.all(items.map((row) => presentDocument(row, deps)));
      return { message: 'Documents found', documents, ...presentPage(query, listed) };
    },
  );

  routes.get(
    '/type/:type',
    {
      summary: 'List documents of a type',
      access: allow('read-document', { scope: scopeOfReading }),
      params: z.object({ type: z.enum(documentTypes) }),
      query: listQuery().extend({ category_id: uuid().optional() }),
      answers: { 200: Many },
    },
    async ({ em, deps, caller, params: { type }, query: { category_id, ...query } }) => {
      const filter = { document_type: type, category_id };
      const { items, ...listed } = await listDocuments(em, caller, { ...query, filter });
      const documents = await Promise.all(items.map((row) => presentDocument(row, deps)));
      return { message: 'Documents found', documents, ...presentPage(query, listed) };
    },
  );

  routes.get(
    '/:id',
    {
      summary: 'Read a document',
      access: allow('read-document', { scope: scopeOfReading }),
      params,
      answers: { 200: One },
    },
    async ({ em, deps, caller, params: { id } }) => {
      const document = await getDocument(em, caller, id);
      return { message: 'Document found', document: await presentDocument(document, deps) };
    },
  );

  routes.get(
    '/:id/view-url',
    {
      summary: 'Get a download URL that is valid for 15 minutes',
      access: allow('read-document', { scope: scopeOfReading }),
      params,
      answers: { 200: z.object({ message, document_id: z.guid(), file_key: z.string(), view_url: z.string() }) },
    },
    async ({ em, deps, caller, params: { id }, requestId }) => {
      const document = await getDocument(em, caller, id);
      const { key, viewUrl } = await viewDocument(deps, document);
      await recordRead(em, { resourceType: 'document', resourceId: id, actorId: caller.userId, requestId });
      return { message: 'The URL is valid for 15 minutes', document_id: id, file_key: key, view_url: viewUrl };
    },
  );

  routes.get(
    '/:id/public',
    {
      summary: 'Download the file of a public document',
      access: open('redirects to a new URL of the file; 404 for anything that is not a public document'),
      params: z.object({ id: z.string() }),
      answers: { 302: 'Redirects to the file.' },
    },
    async ({ em, deps, params: { id } }) => {
      if (!isUuid(id)) refuse('NOT_FOUND', 'the document was not found', { field: 'id' });
      const { viewUrl } = await viewDocument(deps, await getPublicDocument(em, id));
      // Any page may embed the file. Browsers check this header on the redirect too.
      const anyPage = { 'Cross-Origin-Resource-Policy': 'cross-origin' };
      return answer(302, undefined, { Location: viewUrl, 'Cache-Control': 'no-store', ...anyPage });
    },
  );

  routes.patch(
    '/:id',
    {
      summary: 'Change a document',
      description: 'Null clears category and product.',
      access: allow('update-document', { scope: scopeOfChanging }),
      params,
      body: z
        .strictObject({
          url: text(255),
          document_type: z.enum(documentTypes),
          product_type: z.enum(productTypes).nullable(),
          product_id: uuid().nullable(),
          visibility: z.enum(visibilities),
          category_id: uuid().nullable(),
        })
        .partial(),
      answers: { 200: One },
    },
    async ({ em, deps, caller, params: { id }, body, requestId }) => {
      const { STORED_BYTES_PER_USER: maximumStoredBytes } = deps.config;
      const input = { caller, requestId, documentId: id, changes: body, maximumStoredBytes };
      const document = await updateDocument(em, deps, input);
      return { message: 'Document updated', document: await presentDocument(document, deps) };
    },
  );

  routes.delete(
    '/:id',
    {
      summary: 'Delete a document',
      description:
        'A soft delete: `deleted_at` and `deleted_by` are set, and reads return 404. The file is removed if ' +
        'no other document uses it.',
      access: allow('delete-document', { scope: scopeOfChanging }),
      params,
      answers: { 200: z.object({ message }) },
    },
    async ({ em, deps, caller, params: { id }, requestId }) => {
      await deleteDocument(em, deps, { caller, requestId, documentId: id });
      return { message: 'Document deleted' };
    },
  );
  return routes;
}

export const documentsRoutes = createDocumentsRoutes();
