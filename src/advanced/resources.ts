import { defineResource } from '../kube/index.ts';
import { type AdvancedDaemonSet, advancedDaemonSetApi as api } from './api.ts';

/** In the stored version: whatever version a user writes, it is read in this one. */
export const advancedDaemonSets = defineResource<AdvancedDaemonSet>({
  group: api.group,
  version: api.storedVersion,
  plural: api.plural,
  kind: api.kind,
  namespaced: true,
});
