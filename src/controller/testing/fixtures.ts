import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { daemonSets, type EventInput, type EventRecorder } from '../../kube/index.ts';
import {
  createLedger,
  formatSelector,
  fromLabelSelector,
  type Ledger,
  type NodeUpdate,
  type PodFacts,
  parsePolicy,
  schedulingConstraints,
  templateOrigin,
} from '../../rollout/index.ts';
import type { Clock } from '../../runtime/index.ts';
import { type DaemonSetRef, type DaemonSetView, type Kind, ownedPodFacts } from '../kind.ts';
import { newestRevision } from '../revisions.ts';

/** A kind that manages every DaemonSet that has a policy, and whose DaemonRollouts have their own names. */
export const testKind: Kind<DaemonSet, DaemonSetView, PodFacts> = {
  resource: daemonSets,
  toView({ metadata = {}, spec }) {
    const { uid = '', namespace = '', name = '', resourceVersion = '', generation = 0, annotations = {} } = metadata;
    const policy = parsePolicy({ annotations, updateStrategyType: 'OnDelete', minReadySeconds: 0 });
    const selector = fromLabelSelector(spec?.selector ?? {});
    if (policy.kind === 'off' || !selector.ok) return undefined;
    const podSelector = formatSelector(selector.selector);
    const origin = templateOrigin(metadata, spec?.template);
    const needs = schedulingConstraints(spec?.template.spec ?? { containers: [] });
    return { uid, namespace, name, resourceVersion, generation, needs, podSelector, policy, origin };
  },
  short: 'ds',
  rolloutName: (daemonSet) => `${daemonSet}.test`,
  daemonSetOf: (rollout) => /^(.*)\.test$/.exec(rollout)?.[1],
  notManagedMessage: 'It has no policy: give it one.',
  pods: ownedPodFacts,
  targetOf: (_view, owned) => newestRevision(owned),
};

export const testRef: DaemonSetRef = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  short: 'ds',
  namespace: 'edge',
  name: 'app',
  uid: 'u',
  rolloutName: 'app.test',
};

export const podFacts = (node: string, revision: string, change: Partial<PodFacts> = {}): PodFacts => ({
  uid: `uid-${node}`,
  name: `app-${node}`,
  resourceVersion: '10',
  node,
  revision,
  createdAt: 0,
  terminating: false,
  ready: true,
  readyChangedAt: 0,
  trouble: undefined,
  detail: '',
  ...change,
});

/** A ledger of nodes that run revision h1, with target h2. */
export const createTestLedger = (clock: Clock, nodes: readonly string[]): Ledger => {
  const parsed = parsePolicy({
    annotations: { 'apps.openyurt.io/update-strategy': 'auto', 'apps.openyurt.io/max-unavailable': '1' },
    updateStrategyType: 'OnDelete',
    minReadySeconds: 0,
  });
  if (parsed.kind !== 'on') throw new Error('the policy of the test is invalid');
  const ledger = createLedger(parsed.policy);
  const now = clock.now();
  for (const name of nodes) {
    ledger.setNode({ name, ready: true, readyChangedAt: 0, eligible: true, selected: true, zone: '' }, now);
    ledger.setPod(podFacts(name, 'h1'), now);
  }
  ledger.finishInitialSync();
  ledger.setTarget({ name: 'app-1', hash: 'h1', number: 1 }, now);
  ledger.setTarget({ name: 'app-2', hash: 'h2', number: 2 }, now);
  ledger.tick(now);
  return ledger;
};

/** Reserves the slot of a node for its current pod. */
export const reserve = (ledger: Ledger, node: string, clock: Clock, kind?: NodeUpdate['kind']): void => {
  const pod = ledger.get(node)?.pods[0]?.facts;
  if (!pod) throw new Error(`${node} has no pod`);
  ledger.reserve(
    node,
    {
      ...(kind && { kind }),
      podUid: pod.uid,
      podName: pod.name,
      podResourceVersion: pod.resourceVersion,
      rollout: ledger.state.rollout,
      at: clock.now(),
      state: 'reserved',
    },
    clock.now(),
  );
};

/** Keeps the Events that are recorded. */
export const createTestRecorder = () => {
  const recorded: EventInput[] = [];
  const recorder: EventRecorder = {
    event: (input) => void recorded.push(input),
    run: () => Promise.resolve(),
    flush: () => Promise.resolve(),
    dropped: 0,
  };
  return { recorder, recorded, reasons: (): string[] => recorded.map(({ reason }) => reason) };
};
