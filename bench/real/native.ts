import { MEAN_ANNOTATION } from './down-times.ts';
import type { Release, Workload } from './workload.ts';

export interface NativeRelease extends Release {
  /** Value of apps.openyurt.io/max-unavailable; undefined: the DaemonSet does not opt in. */
  maxUnavailable: string | undefined;
  /** Value of edgeset.io/partition. Default: none. */
  partition?: string;
  /** Of its pods. Default: none. */
  nodeSelector?: Record<string, string>;
}

/** DaemonSets of apps/v1. */
export const native: Workload<NativeRelease> = {
  args: [],
  install: async () => undefined,
  path: (namespace, name) => `/apis/apps/v1/namespaces/${namespace}/daemonsets/${name}`,
  object(name, { version, maxUnavailable, partition, nodeSelector, meanStartMs }) {
    const annotations =
      maxUnavailable === undefined
        ? {}
        : { 'apps.openyurt.io/update-strategy': 'auto', 'apps.openyurt.io/max-unavailable': maxUnavailable };
    const labels = { app: name };
    return {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: {
        name,
        annotations: { ...annotations, ...(partition !== undefined && { 'edgeset.io/partition': partition }) },
      },
      spec: {
        selector: { matchLabels: labels },
        updateStrategy: { type: 'OnDelete' },
        template: {
          metadata: { labels, annotations: { [MEAN_ANNOTATION]: String(meanStartMs) } },
          spec: { containers: [{ name: 'app', image: `app:v${version}` }], ...(nodeSelector && { nodeSelector }) },
        },
      },
    };
  },
};
