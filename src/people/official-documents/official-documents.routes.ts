import { z } from 'zod';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { allow } from '../../platform/http/access.ts';
import { created } from '../../platform/http/answer.ts';
import { isoDate, text, uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { createOfficialDocument } from './create-official-document.ts';
import { deleteOfficialDocument } from './delete-official-document.ts';
import { getOfficialDocument, listOfficialDocuments } from './find-official-documents.ts';
import { officialDocumentKinds, verificationLaw } from './official-document.ts';
import { OfficialDocumentAnswer, presentOfficialDocument } from './present-official-document.ts';
import { requirePeriod, updateOfficialDocument } from './update-official-document.ts';

interface Ports {
  sealer: Sealer;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/official-documents',
  tag: 'Official documents',
  description: 'Identity documents. The number is encrypted at rest and masked except for its owner.',
});

const largestId = 9_223_372_036_854_775_807n;

/** Creates the schema of an id: a numeric string within the range of bigint. */
const numericId = () =>
  z
    .string()
    .regex(/^[1-9]\d{0,18}$/, { error: 'must be a numeric string', abort: true })
    .refine((value) => BigInt(value) <= largestId, 'is out of range');

const message = z.string();
const scope = "own; the organization's for its admins; all for platform";
const params = z.object({ id: numericId() });
const One = z.object({ message, data: z.object({ official_document: OfficialDocumentAnswer }) });

const fields = {
  kind: z.enum(officialDocumentKinds),
  number: text(64),
  name_on_document: text(255),
};
const optionalFields = {
  issued_on: isoDate().optional(),
  expires_on: isoDate().optional(),
  document_id: uuid().optional(),
};

routes.post(
  '/',
  {
    summary: 'Create an official document',
    description: '`document_id` names a document of the owner. The official document starts as `pending`.',
    access: allow('create-official-document', { scope: 'for the caller' }),
    body: z.strictObject({ ...fields, ...optionalFields }),
    answers: { 201: One },
  },
  async ({ em, deps, caller, body, requestId }) => {
    const { issued_on: issuedOn = null, expires_on: expiresOn = null, document_id: documentId = null } = body;
    requirePeriod(issuedOn, expiresOn);
    const opened = await createOfficialDocument(em, deps.sealer, {
      caller,
      requestId,
      kind: body.kind,
      details: { number: body.number, name_on_document: body.name_on_document },
      issuedOn,
      expiresOn,
      documentId,
    });
    return created({
      message: 'Official document created',
      data: { official_document: presentOfficialDocument(caller, opened) },
    });
  },
);

routes.get(
  '/',
  {
    summary: 'List official documents',
    access: allow('read-official-document', { scope }),
    query: listQuery({ id: numericId() }),
    answers: {
      200: z.object({
        message,
        data: z.object({ official_documents: z.array(OfficialDocumentAnswer), ...pageFields }),
      }),
    },
  },
  async ({ em, deps, caller, query, requestId }) => {
    const { documents, ...listed } = await listOfficialDocuments(em, deps.sealer, { caller, requestId, ...query });
    return {
      message: 'Official documents found',
      data: {
        official_documents: documents.map((opened) => presentOfficialDocument(caller, opened)),
        ...presentPage(query, listed),
      },
    };
  },
);

routes.get(
  '/:id',
  {
    summary: 'Read an official document',
    access: allow('read-official-document', { scope }),
    params,
    answers: { 200: One },
  },
  async ({ em, deps, caller, params: { id }, requestId }) => {
    const opened = await getOfficialDocument(em, deps.sealer, { caller, id, requestId });
    return {
      message: 'Official document found',
      data: { official_document: presentOfficialDocument(caller, opened) },
    };
  },
);

routes.patch(
  '/:id',
  {
    summary: 'Change an official document',
    description:
      'Only platform users set `verification_status` (403 otherwise). A change by another caller makes the document ' +
      '`pending` again. Null clears an optional field.',
    access: allow('update-official-document', { scope }),
    params,
    body: z
      .strictObject({
        ...fields,
        issued_on: isoDate().nullable(),
        expires_on: isoDate().nullable(),
        document_id: uuid().nullable(),
        verification_status: z.enum(verificationLaw.statuses),
      })
      .partial(),
    answers: { 200: One },
  },
  async ({ em, deps, caller, params: { id }, body: { number, name_on_document, ...changes }, requestId }) => {
    const details = { number, name_on_document };
    const opened = await updateOfficialDocument(em, deps.sealer, { caller, requestId, id, details, changes });
    return {
      message: 'Official document updated',
      data: { official_document: presentOfficialDocument(caller, opened) },
    };
  },
);

routes.delete(
  '/:id',
  {
    summary: 'Delete an official document',
    description: 'Permanently: only the event remains.',
    access: allow('delete-official-document', { scope }),
    params,
    answers: { 200: z.object({ message }) },
  },
  async ({ em, caller, params: { id }, requestId }) => {
    await deleteOfficialDocument(em, { caller, requestId, id });
    return { message: 'Official document deleted' };
  },
);

export const officialDocumentsRoutes = routes;
