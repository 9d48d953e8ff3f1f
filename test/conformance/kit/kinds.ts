import type { AdvancedDaemonSet, AdvancedDaemonSetSpec } from '../../../src/kinds/advanced/index.ts';
import { type Annotations, daemonSetOf, kept, type Shape, templateOf } from './objects.ts';

export type CaseKind = 'native' | 'advanced';

/** How the DaemonSets of a case are named, created and served. */
interface KindOfCase {
  group: string;
  /** Of the DaemonSets of a namespace. */
  path: (namespace: string, version?: Shape['version']) => string;
  make: (namespace: string, shape: Shape) => object;
  rolloutName: (daemonSet: string) => string;
  managerArgs: readonly string[];
}

/** The default Advanced DaemonSet of a case: one node at a time, on the case's own nodes. */
const advancedOf = (namespace: string, shape: Shape): AdvancedDaemonSet => {
  const { name = 'app', version = 'v1beta1', annotations, minReadySeconds, updateStrategy, rollingUpdate } = shape;
  const wanted: Annotations = { 'edgeset.io/settle-seconds': '1', ...annotations };
  const strategy: AdvancedDaemonSetSpec['updateStrategy'] = {
    ...(updateStrategy && { type: updateStrategy }),
    ...(rollingUpdate && { rollingUpdate }),
  };
  return {
    apiVersion: `apps.kruise.io/${version}`,
    kind: 'DaemonSet',
    metadata: { name, namespace, annotations: kept(wanted) },
    spec: {
      selector: { matchLabels: { app: name } },
      ...(Object.keys(strategy).length > 0 && { updateStrategy: strategy }),
      ...(minReadySeconds !== undefined && { minReadySeconds }),
      template: templateOf(namespace, shape),
      ...shape.spec,
    },
  };
};

export const kinds: Readonly<Record<CaseKind, KindOfCase>> = {
  native: {
    group: 'apps',
    path: (namespace) => `/apis/apps/v1/namespaces/${namespace}/daemonsets`,
    make: daemonSetOf,
    rolloutName: (daemonSet) => daemonSet,
    managerArgs: [],
  },
  advanced: {
    group: 'apps.kruise.io',
    path: (namespace, version = 'v1beta1') => `/apis/apps.kruise.io/${version}/namespaces/${namespace}/daemonsets`,
    make: advancedOf,
    rolloutName: (daemonSet) => `${daemonSet}.apps.kruise.io`,
    managerArgs: ['--controllers=native,advanced'],
  },
};
