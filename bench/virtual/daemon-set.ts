import type { ControllerRevision, DaemonSet, DaemonSetCondition } from 'kubernetes-types/apps/v1.d.ts';
import type { Pod, PodStatus } from 'kubernetes-types/core/v1.d.ts';
import { daemonSets } from '../../src/kube/index.ts';
import type { Clock } from '../../src/runtime/index.ts';
import type { OccupiedSlot } from '../measure/slots.ts';
import type { MemoryApi } from './api.ts';

const NAME = 'app';
/** Names of later objects take as much memory as those of early ones. */
const digits = (count: number): string => String(count).padStart(5, '0');
const LABELS = { app: NAME };
/** The native controller keeps this many by default. */
const OLD_REVISIONS = 10;

export interface DaemonSetOptions {
  api: MemoryApi;
  clock: Clock;
  /** Each has its own. */
  namespace: string;
  nodes: readonly string[];
  /** Of its pods. Default: none. */
  nodeSelector?: Record<string, string>;
  /** Value of apps.openyurt.io/max-unavailable. */
  maxUnavailable: string;
  /** Value of edgeset.io/first-wave. Default: none. */
  firstWave?: string;
  /** How long a node is down when its pod is replaced, ms; asked once a replacement. */
  downMs: () => number;
  /** The name of its rollout plan. */
  plan: string | undefined;
}

/** A DaemonSet with a pod on every node, and what the cluster does with these pods. */
export const createDaemonSet = (options: DaemonSetOptions) => {
  const { api, clock, namespace, nodes, nodeSelector, downMs, plan } = options;
  const uid = `set-${namespace}`;
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: NAME, uid, controller: true }];
  const downs: OccupiedSlot[] = [];
  const podOf = new Map<string, Pod>();
  /** Nodes whose pods are being replaced. */
  const replacing = new Set<string>();
  let { maxUnavailable } = options;
  let release = 1;
  let made = 0;
  let changes = 0;
  let deleted = 0;

  const iso = (ms: number): string => new Date(ms).toISOString();
  const hashOf = (number: number): string => `hash${digits(number)}`;

  const podStatus = (ready: boolean): PodStatus => ({
    phase: ready ? 'Running' : 'Pending',
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: iso(clock.now()) }],
  });
  const podObject = (node: string, ready: boolean): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${NAME}-${digits((made += 1))}`,
      namespace,
      uid: `${namespace}-${digits(made)}`,
      labels: { ...LABELS, 'controller-revision-hash': hashOf(release) },
      creationTimestamp: iso(clock.now()),
      ownerReferences,
    },
    spec: { nodeName: node, containers: [{ name: NAME, image: `app:v${digits(release)}` }] },
    status: podStatus(ready),
  });

  const setReady = (node: string, ready: boolean): void => {
    const pod = podOf.get(node);
    if (pod) podOf.set(node, api.commit('MODIFIED', 'pods', { ...pod, status: podStatus(ready) }));
  };

  const template = () => ({
    metadata: { labels: LABELS },
    spec: { containers: [{ name: NAME, image: `app:v${digits(release)}` }], ...(nodeSelector && { nodeSelector }) },
  });
  const daemonSet = (conditions: DaemonSetCondition[]): DaemonSet => ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      name: NAME,
      namespace,
      uid,
      generation: release,
      annotations: {
        'apps.openyurt.io/update-strategy': 'auto',
        'apps.openyurt.io/max-unavailable': maxUnavailable,
        ...(options.firstWave !== undefined && { 'edgeset.io/first-wave': options.firstWave }),
        ...(plan !== undefined && { 'edgeset.io/rollout-plan': plan }),
      },
    },
    spec: { selector: { matchLabels: LABELS }, updateStrategy: { type: 'OnDelete' }, template: template() },
    status: {
      observedGeneration: release,
      currentNumberScheduled: nodes.length,
      desiredNumberScheduled: nodes.length,
      numberMisscheduled: 0,
      numberReady: nodes.length,
      conditions,
    },
  });
  const revision = (number: number): ControllerRevision => ({
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${NAME}-${digits(number)}`,
      namespace,
      uid: `revision-${namespace}-${digits(number)}`,
      labels: { ...LABELS, 'controller-revision-hash': hashOf(number) },
      ownerReferences,
    },
    revision: number,
    data: { spec: { template: { ...template(), $patch: 'replace' } } },
  });

  const updateDaemonSet = (): void => {
    const { status } = api.find(daemonSets, { namespace, name: NAME });
    api.commit('MODIFIED', 'daemonsets', daemonSet(status?.conditions ?? []));
  };

  for (const node of nodes) podOf.set(node, api.commit('ADDED', 'pods', podObject(node, true)));
  api.commit('ADDED', 'daemonsets', daemonSet([]));
  api.commit('ADDED', 'controllerrevisions', revision(release));

  return {
    namespace,
    /** Of its latest template. */
    hash: (): string => hashOf(release),
    setReady,
    isReplacing: (node: string): boolean => replacing.has(node),
    /** How many of its pods were deleted so far. */
    deleted: (): number => deleted,
    /** Every replacement that has ended since the caller last emptied this. */
    downs,
    /** Sets a new template; the DaemonSet controller records it at once. */
    release(): void {
      release += 1;
      api.commit('ADDED', 'controllerrevisions', revision(release));
      const oldest = release - OLD_REVISIONS - 1;
      if (oldest > 0) api.commit('DELETED', 'controllerrevisions', revision(oldest));
      updateDaemonSet();
    },
    /** Changes `maxUnavailable`. */
    setBudget(value: string): void {
      maxUnavailable = value;
      updateDaemonSet();
    },
    /** The pod was deleted: its node gets another one. */
    replacePod(pod: Pod): void {
      const node = pod.spec?.nodeName ?? '';
      const from = clock.now();
      const down = downMs();
      const began = (changes += 1);
      deleted += 1;
      replacing.add(node);
      clock.timer(down / 5, () => {
        api.commit('DELETED', 'pods', pod);
        clock.timer(Math.min(30, down / 10), () =>
          podOf.set(node, api.commit('ADDED', 'pods', podObject(node, false))),
        );
      });
      clock.timer(down, () => {
        replacing.delete(node);
        setReady(node, true);
        downs.push({
          node,
          requestedAt: from,
          from,
          to: clock.now(),
          lagMs: 0,
          began,
          ended: (changes += 1),
          ours: true,
        });
      });
    },
  };
};
export type SimulatedDaemonSet = ReturnType<typeof createDaemonSet>;
