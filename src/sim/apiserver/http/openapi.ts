import { apiVersionOf, type Kind } from '../registry/index.ts';
import type { Json } from '../value/index.ts';
import { createCollector, schemaName } from './openapi-schemas.ts';

export const groupVersionPath = ({ group, version }: Pick<Kind, 'group' | 'version'>): string =>
  group === '' ? `api/${version}` : `apis/${apiVersionOf({ group, version })}`;

const parameter = (name: string): Json => ({ name, in: 'query', schema: { type: 'string', uniqueItems: true } });

// kubectl looks for `fieldValidation` before it relies on the server to find unknown fields.
const WRITE_PARAMETERS = ['dryRun', 'fieldManager', 'fieldValidation'].map(parameter);

const operation = (kind: Kind, action: string, ref: string, write: boolean): Json => ({
  'x-kubernetes-action': action,
  'x-kubernetes-group-version-kind': { group: kind.group, version: kind.version, kind: kind.kind },
  ...(write ? { parameters: WRITE_PARAMETERS } : {}),
  responses: { 200: { description: 'OK', content: { 'application/json': { schema: { $ref: ref } } } } },
});

const pathsOf = (kind: Kind, ref: string): Json => {
  const base = `/${groupVersionPath(kind)}/${kind.namespaced ? 'namespaces/{namespace}/' : ''}${kind.plural}`;
  return {
    [base]: { get: operation(kind, 'list', ref, false), post: operation(kind, 'post', ref, true) },
    [`${base}/{name}`]: {
      get: operation(kind, 'get', ref, false),
      put: operation(kind, 'put', ref, true),
      patch: operation(kind, 'patch', ref, true),
      delete: operation(kind, 'delete', ref, false),
    },
  };
};

/** The OpenAPI document of one group and version. */
export const documentV3 = (kinds: readonly Kind[]): Json => {
  const prefix = '#/components/schemas/';
  const collector = createCollector(prefix);
  for (const kind of kinds) collector.addKind(kind);
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.34.4' },
    paths: Object.assign({}, ...kinds.map((kind) => pathsOf(kind, `${prefix}${schemaName(kind)}`))) as Json,
    components: { schemas: collector.schemas },
  };
};

/** The older document, of everything at once. */
export const documentV2 = (kinds: readonly Kind[]): Json => {
  const collector = createCollector('#/definitions/');
  for (const kind of kinds) collector.addKind(kind);
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'v1.34.4' },
    paths: {},
    definitions: collector.schemas,
  };
};
