import { advancedDaemonSetCrd } from '../../src/kinds/advanced/index.ts';
import { kubectlApply } from '../../test/cluster/index.ts';
import { eventually } from '../../test/support/index.ts';
import { MEAN_ANNOTATION } from './down-times.ts';
import type { Release, Workload } from './workload.ts';

/** How pods are brought to a new template. */
export type Mode = 'recreate' | 'in place' | 'surge';

export interface AdvancedRelease extends Release {
  mode: Mode;
  /** Nodes at a time; a number or a percentage. */
  budget: number | string;
}

const rollingUpdate = ({ mode, budget }: AdvancedRelease): object =>
  mode === 'surge'
    ? { rollingUpdateType: 'Standard', maxSurge: budget, maxUnavailable: 0 }
    : { rollingUpdateType: mode === 'recreate' ? 'Standard' : 'InPlaceIfPossible', maxUnavailable: budget };

const GROUP = '/apis/apps.kruise.io/v1beta1';

/** DaemonSets of apps.kruise.io. */
export const advanced: Workload<AdvancedRelease> = {
  args: ['--controllers=native,advanced'],
  async install({ kubeconfig, plane }) {
    await kubectlApply(kubeconfig, advancedDaemonSetCrd);
    await eventually('Advanced DaemonSets are served', () => plane.api.get(`${GROUP}/daemonsets`), {
      withinMs: 30_000,
      everyMs: 100,
    });
  },
  path: (namespace, name) => `${GROUP}/namespaces/${namespace}/daemonsets/${name}`,
  object(name, release) {
    const labels = { app: name };
    return {
      apiVersion: 'apps.kruise.io/v1beta1',
      kind: 'DaemonSet',
      metadata: { name },
      spec: {
        selector: { matchLabels: labels },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: rollingUpdate(release) },
        template: {
          metadata: { labels, annotations: { [MEAN_ANNOTATION]: String(release.meanStartMs) } },
          spec: { containers: [{ name: 'app', image: `app:v${release.version}` }] },
        },
      },
    };
  },
};
