import type { StoredObject } from '../../types.ts';
import { badListOptions, badRequest, expired, invalid, notSupported, StatusError } from '../errors.ts';
import { parseFieldSelector } from '../field-selectors.ts';
import { at, type Json, recordOf, textOf } from '../json.ts';
import { parseLabelSelector } from '../label-selectors.ts';
import type { Kind } from '../registry/kind.ts';
import type { Snapshot } from '../storage/store.ts';
import { fromStorageVersion, type ServerState } from './state.ts';

/** Parses a request's resourceVersion; undefined when absent. */
export const parseResourceVersion = (text: string | undefined): number | undefined => {
  if (text === undefined || text === '') return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  return Number(text);
};

export interface Selection {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
}

export interface Filter {
  /** Undefined when everything matches. */
  readonly matches: ((object: Json) => boolean) | undefined;
  /** For pods, the node that the field selector requires. */
  readonly node: string | undefined;
}

/** Parses a selection. The filter takes objects in the kind's version. */
export const parseSelection = (kind: Kind, selection: Selection): Filter => {
  const labels = parseLabelSelector(selection.labelSelector);
  const fields = parseFieldSelector(selection.fieldSelector, kind.fields);
  const byLabels = labels && ((object: Json) => labels(recordOf(at(object, 'metadata', 'labels'))));
  const byFields = fields?.test;
  return {
    matches: byLabels && byFields ? (object) => byLabels(object) && byFields(object) : (byLabels ?? byFields),
    node: kind.collection === 'pods' ? fields?.pinned.get('spec.nodeName') : undefined,
  };
};

const keyPrefix = (kind: Kind, namespace: string | undefined): string =>
  kind.namespaced && namespace ? `${namespace}/` : '';

/** The current objects that match, in key order. */
export const listObjects = (state: ServerState, kind: Kind, selection: Selection = {}): readonly StoredObject[] => {
  const { matches, node } = parseSelection(kind, selection);
  const { namespace } = selection;
  const stored = node
    ? state.pods.onNode(node).filter((pod) => !namespace || pod.metadata.namespace === namespace)
    : state.store.list(kind.collection, keyPrefix(kind, namespace));
  const seen = kind.fromStorageVersion ? stored.map((object) => fromStorageVersion(kind, object)) : stored;
  return matches ? seen.filter(matches) : seen;
};

export interface PageRequest extends Selection {
  limit?: number | undefined;
  continue?: string | undefined;
  resourceVersion?: string | undefined;
  resourceVersionMatch?: string | undefined;
  sendInitialEvents?: boolean | undefined;
}

export interface Page {
  readonly items: readonly StoredObject[];
  readonly version: number;
  readonly next?: string;
  readonly remaining?: number;
}

interface Token {
  version: number;
  after: string;
}

const encode = ({ version, after }: Token): string =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: version, start: `${after}\0` })).toString('base64url');

const decode = (text: string): Token => {
  try {
    const token: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    const version = at(token, 'rv');
    const start = textOf(at(token, 'start'));
    if (at(token, 'v') === 'meta.k8s.io/v1' && typeof version === 'number' && start.endsWith('\0'))
      return { version, after: start.slice(0, -1) };
  } catch (cause) {
    throw Object.assign(badRequest('invalid continue token: continue key is not valid'), {
      cause,
    });
  }
  throw badRequest('invalid continue token: continue key is not valid');
};

const TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
  'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
  'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
  'deleted between the time the first chunk was returned and now may show up in the list.';

export const tooLarge = (wanted: number, present: number): StatusError =>
  new StatusError('Timeout', `Timeout: Too large resource version: ${wanted}, current: ${present}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });

const MATCHES = ['Exact', 'NotOlderThan'];

const checkVersion = (state: ServerState, request: PageRequest, collection: string): Snapshot | undefined => {
  const { resourceVersionMatch: match } = request;
  const version = parseResourceVersion(request.resourceVersion);
  const reject = (why: string): never => {
    throw badListOptions('resourceVersionMatch', why);
  };
  if (match) {
    if (!request.resourceVersion) reject('resourceVersionMatch is forbidden unless resourceVersion is provided');
    if (request.continue) reject('resourceVersionMatch is forbidden when continue is provided');
    if (!MATCHES.includes(match))
      throw invalid({ group: 'meta.k8s.io', plural: '', kind: 'ListOptions' }, '', [
        notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']),
      ]);
    if (match === 'Exact' && version === 0) reject('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
  if (request.continue && version !== undefined && version !== 0)
    throw badRequest('specifying resource version is not allowed when using continue');
  if (version !== undefined && version > state.store.version) throw tooLarge(version, state.store.version);
  if (version === undefined || version === state.store.version) return undefined;
  if (match !== 'Exact') return undefined;
  const snapshot = state.snapshots.find(collection, version);
  if (!snapshot) throw expired('The resourceVersion for the provided list is too old.');
  return snapshot;
};

/** A whole or paginated list. All pages show the state of the first. */
export const listPage = (state: ServerState, kind: Kind, request: PageRequest): Page => {
  if (request.sendInitialEvents !== undefined)
    throw badListOptions('sendInitialEvents', 'sendInitialEvents is forbidden for list');
  const exact = checkVersion(state, request, kind.collection);
  const limit = request.limit ?? 0;
  if (limit <= 0 && !request.continue && !exact)
    return { items: listObjects(state, kind, request), version: state.store.version };

  const token = request.continue ? decode(request.continue) : undefined;
  const known = token ? state.snapshots.find(kind.collection, token.version) : exact;
  if (token && !known) throw expired(TOO_OLD);
  const snapshot = known ?? state.snapshots.take(kind.collection);
  const { matches } = parseSelection(kind, request);
  const items: StoredObject[] = [];
  let last = '';
  let remaining = 0;
  for (const [key, object] of snapshot.scan(keyPrefix(kind, request.namespace), token?.after)) {
    if (limit > 0 && items.length >= limit) {
      remaining += 1;
      // With a selector, the remaining count is unknown.
      if (matches) break;
      continue;
    }
    last = key;
    const view = fromStorageVersion(kind, object);
    if (!matches || matches(view)) items.push(view);
  }
  return {
    items,
    version: snapshot.version,
    ...(remaining > 0 ? { next: encode({ version: snapshot.version, after: last }) } : {}),
    ...(remaining > 0 && !matches ? { remaining } : {}),
  };
};
