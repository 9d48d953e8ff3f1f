import { createHash } from 'node:crypto';
import { noResource, StatusError } from '../errors.ts';
import type { Kind, Registry } from '../registry/index.ts';
import type { Json } from '../value/index.ts';
import { json, type Response } from './exchange.ts';
import { documentV2, documentV3, groupVersionPath } from './openapi.ts';

/** Changes with what the document says: built-in types never do while the server runs, custom ones with their CRD. */
const hashOf = (kinds: readonly Kind[]): string =>
  createHash('sha256')
    .update(JSON.stringify(kinds.map(({ plural, custom }) => [plural, custom?.crdUid, custom?.schema])))
    .digest('hex')
    .toUpperCase();

const index = (registry: Registry): Json => {
  const roots = Map.groupBy(registry.kinds, groupVersionPath);
  return {
    paths: Object.fromEntries(
      [...roots].map(([root, kinds]) => [root, { serverRelativeURL: `/openapi/v3/${root}?hash=${hashOf(kinds)}` }]),
    ),
  };
};

const OLD_FORM = 'only the following media types are accepted: application/json';

/** `/openapi/v2`, `/openapi/v3` and the documents that the latter names. */
export const serveOpenApi = (registry: Registry, path: string, accept: string): Response => {
  if (path === '/openapi/v2') {
    const takesJson = accept === '' || accept.includes('application/json') || accept.includes('*/*');
    if (!takesJson) throw new StatusError('BadRequest', 406, 'NotAcceptable', OLD_FORM);
    return json(documentV2(registry.kinds));
  }
  if (path === '/openapi/v3') return json(index(registry));
  const root = path.slice('/openapi/v3/'.length);
  const kinds = registry.kinds.filter((kind) => groupVersionPath(kind) === root);
  if (kinds.length === 0) throw noResource();
  return json(documentV3(kinds));
};
