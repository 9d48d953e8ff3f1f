import type { CheckSubject } from '../types.ts';

/** A subject for tests. */
export const subject = (over: Partial<CheckSubject> = {}): CheckSubject => ({
  namespace: 'shop',
  daemonSet: 'web',
  revision: '7d9',
  previousRevision: '6c8',
  stage: 'canary',
  secretNamespace: 'shop',
  clusterPlan: false,
  owner: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'web', uid: 'u1' },
  ...over,
});
