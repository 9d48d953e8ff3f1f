import type { AuditRecord } from './audit-record.ts';
import { type CheckOptions, checkUpdates } from './check-updates.ts';

const GATE = 'InPlaceUpdateReady';
export const managerUser = 'system:serviceaccount:edge:edgeset-manager';

export interface HistoryOptions {
  minReadySeconds?: number;
  /** Of an Advanced DaemonSet. */
  updateStrategy?: object;
  annotations?: Record<string, string>;
}

/** Writes a cluster's history by hand; every line is one successful write, a second after the one before. */
export const buildHistory = (
  nodes: number,
  { minReadySeconds = 0, updateStrategy, annotations }: HistoryOptions = {},
) => {
  const kind = updateStrategy ? 'advanced' : 'native';
  let strategy = updateStrategy;
  const records: AuditRecord[] = [];
  let now = Date.parse('2026-01-01T00:00:00Z');
  let answerMs = 0;
  let version = 100;
  const write = (
    fields: Partial<AuditRecord> & {
      response: { metadata: { name?: string } & Record<string, unknown> } & Record<string, unknown>;
    },
  ) => {
    version += 1;
    const { namespace = 'edge' } = fields;
    const metadata = { ...(namespace && { namespace }), ...fields.response.metadata, resourceVersion: String(version) };
    records.push({
      receivedAt: now,
      answeredAt: now + answerMs,
      user: 'system:kwok',
      userAgent: '',
      verb: 'update',
      group: '',
      resource: '',
      namespace: 'edge',
      name: fields.response.metadata.name ?? '',
      code: 200,
      request: undefined,
      ...fields,
      response: { ...fields.response, metadata },
    });
  };
  const condition = (ready: boolean) => ({ conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] });
  interface PodState {
    deleting?: boolean;
    /** Its gate for changes in place, where it has one. */
    gate?: 'open' | 'shut';
    preparing?: boolean;
    /** The revision that its owner agreed to. */
    approved?: string;
    phase?: string;
  }
  const podObject = (uid: string, node: string, hash: string, ready: boolean, state: PodState = {}) => ({
    kind: 'Pod',
    metadata: {
      name: `pod-${uid}`,
      uid,
      labels: {
        'controller-revision-hash': hash,
        ...(state.preparing && { 'lifecycle.apps.kruise.io/state': 'PreparingDelete' }),
      },
      ownerReferences: [{ controller: true, uid: 'ds' }],
      ...(state.deleting && { deletionTimestamp: 'then', deletionGracePeriodSeconds: 30 }),
    },
    spec: { nodeName: node, ...(state.gate && { readinessGates: [{ conditionType: GATE }] }) },
    status: {
      phase: state.phase ?? 'Running',
      conditions: [
        ...condition(ready).conditions,
        ...(state.gate ? [{ type: GATE, status: state.gate === 'open' ? 'True' : 'False' }] : []),
        ...(state.approved === undefined
          ? []
          : [{ type: 'UpgradeApproved', status: 'True', message: `controllerrevision: ${state.approved}` }]),
      ],
    },
  });
  const self = {
    records,
    wait(ms: number) {
      now += ms;
      return self;
    },
    /** How long the server takes to answer from here on. */
    answers(ms: number) {
      answerMs = ms;
      return self;
    },
    node(name: string, ready: boolean) {
      write({ resource: 'nodes/status', namespace: '', response: { metadata: { name }, status: condition(ready) } });
      return self;
    },
    /** Its object is deleted. */
    vanish(name: string) {
      write({ resource: 'nodes', verb: 'delete', namespace: '', response: { metadata: { name } } });
      return self;
    },
    release(image: string, hash: string, revision: number) {
      write({
        group: kind === 'native' ? 'apps' : 'apps.kruise.io',
        resource: 'daemonsets',
        response: {
          metadata: { name: 'app', uid: 'ds', ...(annotations && { annotations }) },
          spec: {
            minReadySeconds,
            ...(strategy && { updateStrategy: strategy }),
            template: { spec: { containers: [{ image }] } },
          },
        },
      });
      write({
        group: 'apps',
        resource: 'controllerrevisions',
        response: {
          metadata: {
            labels: { 'controller-revision-hash': hash },
            ownerReferences: [{ controller: true, uid: 'ds' }],
          },
          revision,
        },
      });
      return self;
    },
    pod(uid: string, node: string, hash: string, ready: boolean, state?: PodState) {
      write({ resource: 'pods/status', verb: 'patch', response: podObject(uid, node, hash, ready, state) });
      return self;
    },
    /** From here on, and with the next release. */
    strategy(next: object) {
      strategy = next;
      return self;
    },
    /** The manager creates a pod. */
    create(uid: string, node: string, hash: string) {
      const response = podObject(uid, node, hash, false, { phase: 'Pending' });
      write({ resource: 'pods', verb: 'create', user: managerUser, response });
      return self;
    },
    /** The manager closes the gate of a pod before it updates it in place. */
    shut(uid: string, node: string, hash: string) {
      const request = { status: { conditions: [{ type: GATE, status: 'False' }] } };
      const response = podObject(uid, node, hash, true, { gate: 'shut' });
      write({ resource: 'pods/status', verb: 'patch', user: managerUser, request, response });
      return self;
    },
    /** And opens it again. */
    open(uid: string, node: string, hash: string) {
      const request = { status: { conditions: [{ type: GATE, status: 'True' }] } };
      const response = podObject(uid, node, hash, true, { gate: 'open' });
      write({ resource: 'pods/status', verb: 'patch', user: managerUser, request, response });
      return self;
    },
    /** The manager changes a pod to another revision. */
    change(uid: string, node: string, hash: string, state: PodState = { gate: 'shut' }) {
      write({ resource: 'pods', verb: 'patch', user: managerUser, response: podObject(uid, node, hash, true, state) });
      return self;
    },
    /** The manager tells those who watch that a pod is to go. */
    prepare(uid: string, node: string, hash: string) {
      const response = podObject(uid, node, hash, true, { preparing: true });
      write({ resource: 'pods', verb: 'patch', user: managerUser, response });
      return self;
    },
    /** The kubelet has ended it. */
    gone(uid: string, node: string, hash: string) {
      const response = podObject(uid, node, hash, false, { deleting: true });
      const metadata = { ...response.metadata, deletionGracePeriodSeconds: 0 };
      write({ resource: 'pods', verb: 'delete', response: { ...response, metadata } });
      return self;
    },
    /** `lost`: nobody was told that it was executed. */
    remove(uid: string, node: string, hash: string, how: { by?: string; uid?: boolean; lost?: boolean } = {}) {
      write({
        resource: 'pods',
        verb: 'delete',
        user: how.by ?? managerUser,
        request: how.uid === false ? { kind: 'DeleteOptions' } : { preconditions: { uid } },
        code: how.lost === true ? 504 : 200,
        response: podObject(uid, node, hash, true, { deleting: true }),
      });
      return self;
    },
    label(
      name: string,
      labels: Record<string, string>,
      {
        ready = true,
        annotations: notes = {},
        taints = [],
      }: { ready?: boolean; annotations?: Record<string, string>; taints?: object[] } = {},
    ) {
      const response = {
        metadata: { name, labels, annotations: notes },
        spec: { taints },
        status: condition(ready),
      };
      write({ resource: 'nodes', namespace: '', response });
      return self;
    },
    /** The rollout plan of the DaemonSet; undefined: it is deleted, which the API server answers without the object. */
    plan(spec: object | undefined) {
      const verb = spec ? 'update' : 'delete';
      write({ group: 'edgeset.io', resource: 'rolloutplans', verb, response: { metadata: { name: 'app' }, spec } });
      const written = records.at(-1);
      if (!spec && written) written.response = { kind: 'Status', metadata: {} };
      return self;
    },
    /** Somebody decides about a stage. */
    decide(by: string, spec: object) {
      const response = { metadata: { name: 'd' }, spec: { daemonSet: { apiGroup: 'apps', name: 'app' }, ...spec } };
      write({ group: 'edgeset.io', resource: 'rolloutapprovals', verb: 'create', user: by, response });
      return self;
    },
    /** The manager writes the stages of a revision. */
    stages(hash: string, stages: readonly object[], more: object = {}) {
      const response = { metadata: { name: 'app' }, status: { target: { hash }, stages, ...more } };
      write({ group: 'edgeset.io', resource: 'daemonrollouts/status', user: managerUser, response });
      return self;
    },
    judge: (budget?: number | `${number}%`, more: Partial<CheckOptions> = {}) =>
      checkUpdates(records, {
        namespace: 'edge',
        daemonSet: 'app',
        kind,
        ...(budget !== undefined && { budget }),
        ...more,
      }),
  };
  const names = Array.from({ length: nodes }, (_, index) => `n${index}`);
  for (const name of names) self.node(name, true);
  self.release('app:v1', 'old', 1);
  for (const name of names) self.pod(`old-${name}`, name, 'old', true);
  return self.wait(60_000).release('app:v2', 'new', 2).wait(1000);
};
