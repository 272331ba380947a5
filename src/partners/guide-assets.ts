import type { Asset } from '../platform/http/documentation.ts';
import { errorPage } from './error-catalogue.ts';
import {
  appPage,
  clientsPage,
  collection,
  type GuideAddresses,
  type GuidePage,
  guidePage,
  guidePages,
} from './guide.ts';
import type { PartnerDocument } from './partner-document.ts';
import { postmanCollection } from './postman-collection.ts';
import { npmPackage, packForNpm, packWheel, wheel } from './sdk-packages.ts';

/**
 * The guides: the app developers' first hour, the partners' pages, the error pages, the client packages, and a Postman
 * collection.
 */
export const guideAssets = (addresses: GuideAddresses, readReference: () => PartnerDocument): Asset[] => [
  ...(Object.keys(guidePages) as GuidePage[]).map((page) => ({
    path: `/docs/partners/${page}`,
    type: 'text/html',
    read: () => guidePage(page, addresses),
  })),
  { path: '/docs/start', type: 'text/html', read: () => appPage(addresses) },
  { path: '/docs/errors', type: 'text/html', read: errorPage },
  { path: '/docs/sdk', type: 'text/html', read: () => clientsPage(addresses.api) },
  { path: `/docs/sdk/${npmPackage}`, type: 'application/gzip', read: packForNpm },
  { path: `/docs/sdk/${wheel}`, type: 'application/zip', read: () => packWheel(readReference()) },
  {
    path: `/docs/sdk/${collection}`,
    type: 'application/json',
    read: () => JSON.stringify(postmanCollection(readReference())),
  },
];
