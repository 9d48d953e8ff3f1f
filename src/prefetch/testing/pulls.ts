import type { ImageRequest } from '../../rollout/index.ts';
import type { KnownPull } from '../plan.ts';
import { pullPodName } from '../pull-pod.ts';

/** The request of pod `pINDEX` on node `nINDEX` for revision b. */
export const request = (index: number, more: Partial<ImageRequest> = {}): ImageRequest => ({
  podUid: `p${index}`,
  podName: `app-${index}`,
  resourceVersion: '1',
  node: `n${index}`,
  revision: 'b',
  failure: undefined,
  ...more,
});
/** A pull pod of this process for revision b. */
export const pull = (podUid: string, more: Partial<KnownPull> = {}): KnownPull => ({
  origin: 'own',
  namespace: 'edge',
  name: pullPodName(podUid, more.revision ?? 'b'),
  uid: `pull-${podUid}`,
  daemonSetUid: 'd',
  podUid,
  revision: 'b',
  terminating: false,
  progress: { kind: 'pulling', blocker: '' },
  ...more,
});
