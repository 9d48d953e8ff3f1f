import type { StoredObject } from '../../types.ts';
import { establish } from '../crd/definition.ts';
import { kindsOfDefinition } from '../crd/kinds.ts';
import type { Kind } from '../kinds/index.ts';
import { keyOf } from '../store/index.ts';
import { arrayOf, at } from '../value/index.ts';
import { type Core, timeText } from './core.ts';
import { createObject } from './create.ts';

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';

const isEstablished = (definition: StoredObject): boolean =>
  arrayOf(at(definition, 'status', 'conditions')).some((each) => at(each, 'type') === 'Established');

/** A definition is served at once; a namespace gets the service account that pods use when they name none. */
export const afterWrite = (core: Core, kind: Kind, object: StoredObject): void => {
  if (kind.table === DEFINITIONS) {
    core.registry.setCustom(object.metadata.name, kindsOfDefinition(object));
    if (isEstablished(object)) return;
    const time = timeText(core.clock.now());
    core.store.put(
      DEFINITIONS,
      object.metadata.name,
      (resourceVersion) =>
        ({ ...establish(object, time), metadata: { ...object.metadata, resourceVersion } }) as StoredObject,
    );
    return;
  }
  if (kind.table !== 'namespaces' || object.metadata.deletionTimestamp !== undefined) return;
  const accounts = core.registry.ofTable('serviceaccounts');
  const namespace = object.metadata.name;
  if (accounts && !core.store.get('serviceaccounts', keyOf(namespace, 'default')))
    createObject(core, accounts, { metadata: { name: 'default', namespace } });
};

/** What goes with an object: a definition takes its custom resources along. */
export const afterDelete = (core: Core, kind: Kind, object: StoredObject): void => {
  if (kind.table !== DEFINITIONS) return;
  const table = object.metadata.name;
  for (const each of core.store.list(table, '')) {
    const key = keyOf(each.metadata.namespace, each.metadata.name);
    core.store.remove(table, key, (resourceVersion) => ({ ...each, metadata: { ...each.metadata, resourceVersion } }));
  }
  core.registry.setCustom(table, []);
  core.watches.endAll(table);
};
