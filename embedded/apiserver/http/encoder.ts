import type { StoredObject } from '../../types.ts';
import { StatusError } from '../errors.ts';
import type { Page } from '../handlers/list.ts';
import type { Json } from '../json.ts';
import { columnsOf, tableRow } from '../printers/table.ts';
import { apiVersionOf, type Kind } from '../registry/kind.ts';

export type ResponseFormat = 'object' | 'table' | 'metadata';

const parameters = (entry: string): Map<string, string> =>
  new Map(
    entry
      .split(';')
      .slice(1)
      .map((pair) => {
        const [key = '', value = ''] = pair.trim().split('=');
        return [key, value] as const;
      }),
  );

// The real server's list; this one serves only JSON.
const MEDIA_TYPES = [
  'json',
  'yaml',
  'vnd.kubernetes.protobuf',
  'json;stream=watch',
  'vnd.kubernetes.protobuf;stream=watch',
].map((type) => `application/${type}`);

const notAcceptable = (): StatusError =>
  new StatusError('NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${MEDIA_TYPES.join(', ')}`, {});

/** The format of the first media type that can be served. */
export const negotiateFormat = (accept: string): ResponseFormat => {
  if (accept === '') return 'object';
  for (const entry of accept.split(',')) {
    const type = entry.split(';', 1)[0]?.trim();
    if (type !== 'application/json' && type !== '*/*' && type !== 'application/*') continue;
    const as = parameters(entry).get('as');
    if (as === undefined) return 'object';
    if (as === 'Table') return 'table';
    if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') return 'metadata';
  }
  throw notAcceptable();
};

export const wantsAggregatedDiscovery = (accept: string): 'v2' | undefined =>
  accept.split(',').some((entry) => {
    const wanted = parameters(entry);
    return wanted.get('as') === 'APIGroupDiscoveryList' && wanted.get('v') === 'v2';
  })
    ? 'v2'
    : undefined;

export interface ObjectEncoder {
  one(object: StoredObject): Json;
  list(page: Page): Json;
  /** A watch event's object. The first one of a table has the column definitions. */
  event(object: StoredObject, first: boolean): Json;
}

const listMeta = ({ version, next, remaining }: Page): Json => ({
  resourceVersion: String(version),
  ...(next === undefined ? {} : { continue: next }),
  ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
});

const metadataOf = (object: StoredObject): Json => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: object.metadata,
});

const META = 'meta.k8s.io/v1';

type Include = 'Object' | 'Metadata' | 'None';

const tables = (kind: Kind, include: Include, now: number): ObjectEncoder => {
  const columnDefinitions = columnsOf(kind);
  const row = (object: StoredObject): Json => ({
    cells: tableRow(kind, object, now),
    ...(include === 'None' ? {} : { object: include === 'Object' ? object : metadataOf(object) }),
  });
  const table = (metadata: Json, objects: readonly StoredObject[], columns: unknown): Json => ({
    kind: 'Table',
    apiVersion: META,
    metadata,
    columnDefinitions: columns,
    rows: objects.map(row),
  });
  const versionOf = (object: StoredObject): Json => ({ resourceVersion: object.metadata.resourceVersion });
  return {
    one: (object) => table(versionOf(object), [object], columnDefinitions),
    list: (page) => table(listMeta(page), page.items, columnDefinitions),
    event: (object, first) => table(versionOf(object), [object], first ? columnDefinitions : null),
  };
};

const metadataOnly: ObjectEncoder = {
  one: metadataOf,
  list: (page) => ({
    kind: 'PartialObjectMetadataList',
    apiVersion: META,
    metadata: listMeta(page),
    items: page.items.map(metadataOf),
  }),
  event: metadataOf,
};

const whole = (kind: Kind): ObjectEncoder => ({
  one: (object) => object,
  list: (page) => ({
    kind: kind.listKind,
    apiVersion: apiVersionOf(kind),
    // Lists of custom objects have an empty continue token at the end.
    metadata: kind.custom ? { continue: '', ...listMeta(page) } : listMeta(page),
    // Items of built-in lists omit kind and apiVersion.
    items: kind.custom ? page.items : page.items.map(({ kind: _kind, apiVersion: _apiVersion, ...item }) => item),
  }),
  event: (object) => object,
});

export const createEncoder = (kind: Kind, form: ResponseFormat, include: string, now: number): ObjectEncoder => {
  if (form === 'metadata') return metadataOnly;
  if (form === 'object') return whole(kind);
  return tables(kind, include === 'Object' || include === 'None' ? include : 'Metadata', now);
};
