import { toTime } from '../../resources.ts';
import type { StoredObject } from '../../types.ts';
import { servedKinds } from '../crd/custom-resources.ts';
import { establish } from '../crd/definition.ts';
import { arrayOf, at } from '../json.ts';
import type { Kind } from '../registry/kind.ts';
import { keyOf, withVersion } from '../storage/store.ts';
import { createObject } from './create.ts';
import type { ServerState } from './state.ts';

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';

const isEstablished = (definition: StoredObject): boolean =>
  arrayOf(at(definition, 'status', 'conditions')).some((each) => at(each, 'type') === 'Established');

/** Serves the kinds of a definition at once, and gives each namespace its default service account. */
export const afterWrite = (state: ServerState, kind: Kind, object: StoredObject): void => {
  if (kind.collection === DEFINITIONS) {
    state.registry.setCustom(object.metadata.name, servedKinds(object));
    if (isEstablished(object)) return;
    const time = toTime(state.clock.now());
    state.store.put(DEFINITIONS, object.metadata.name, withVersion(establish(object, time)));
    return;
  }
  if (kind.collection !== 'namespaces' || object.metadata.deletionTimestamp !== undefined) return;
  const accounts = state.registry.storageKind('serviceaccounts');
  const namespace = object.metadata.name;
  if (accounts && !state.store.get('serviceaccounts', keyOf(namespace, 'default')))
    createObject(state, accounts, { metadata: { name: 'default', namespace } });
};

/** Deletes the custom resources of a deleted definition. */
export const afterDelete = (state: ServerState, kind: Kind, object: StoredObject): void => {
  if (kind.collection !== DEFINITIONS) return;
  const collection = object.metadata.name;
  for (const each of state.store.list(collection, '')) {
    const key = keyOf(each.metadata.namespace, each.metadata.name);
    state.store.remove(collection, key, withVersion(each));
  }
  state.registry.setCustom(collection, []);
  state.watches.endAll(collection);
};
