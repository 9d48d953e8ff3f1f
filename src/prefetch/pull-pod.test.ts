import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod, PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { PULL_LABEL, pullPodName, pullPodOf } from './pull-pod.ts';
import { toPullView } from './pull-status.ts';

const daemonSet = { namespace: 'edge', name: 'app', uid: 'd1', pullTimeoutMs: 300_000, parallelism: 10 };
const request = {
  podUid: 'p1',
  podName: 'app-x',
  resourceVersion: '7',
  node: 'n1',
  revision: 'b',
  failure: undefined,
};
const templateWith = (spec: Partial<PodSpec> = {}): PodSpec => ({
  containers: [{ name: 'app', image: 'app:v2', imagePullPolicy: 'IfNotPresent', command: ['sh'] }],
  ...spec,
});
const specOf = (spec?: Partial<PodSpec>): PodSpec => {
  const made = pullPodOf(daemonSet, request, templateWith(spec)).spec;
  assert.ok(made);
  return made;
};

describe('a pull pod', () => {
  it('has one container per image, with a program that no image has, and never restarts', () => {
    const { containers, restartPolicy, initContainers } = specOf({ initContainers: [{ name: 'i', image: 'init:v1' }] });
    assert.deepEqual(
      containers.map(({ image }) => image),
      ['init:v1', 'app:v2'],
    );
    for (const { command } of containers) assert.deepEqual(command, ['/edgeset.io/absent']);
    assert.equal(restartPolicy, 'Never');
    assert.equal(initContainers, undefined);
  });

  it('is bound to the node as DaemonSet pods are, with their tolerations', () => {
    const toleration = { key: 'edge', operator: 'Exists' };
    const { affinity, tolerations = [], nodeName } = specOf({ tolerations: [toleration] });
    assert.equal(nodeName, undefined);
    assert.deepEqual(affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms, [
      { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] },
    ]);
    assert.deepEqual(tolerations[0], toleration);
    assert.ok(tolerations.some(({ key }) => key === 'node.kubernetes.io/unschedulable'));
  });

  it('pulls with the secrets, the account, the runtime and the priority of the template, without its token', () => {
    const same = {
      imagePullSecrets: [{ name: 'registry' }],
      serviceAccountName: 'puller',
      runtimeClassName: 'kata',
      schedulerName: 'edge',
      priorityClassName: 'high',
    };
    const spec = specOf({ ...same, volumes: [{ name: 'v', hostPath: { path: '/' } }], hostPID: true });
    assert.deepEqual({ ...spec, ...same }, spec);
    assert.equal(spec.automountServiceAccountToken, false);
    assert.equal(spec.volumes, undefined);
    assert.equal(spec.hostPID, undefined);
    assert.equal(spec.hostNetwork, undefined);
    assert.equal(specOf({ hostNetwork: true }).hostNetwork, true);
  });

  it('asks for nothing that Pod Security level restricted refuses, whatever the template has', () => {
    const privileged = templateWith({ containers: [{ name: 'a', image: 'a', securityContext: { privileged: true } }] });
    const { securityContext, containers } = specOf(privileged);
    assert.equal(securityContext?.runAsNonRoot, true);
    assert.equal(securityContext.seccompProfile?.type, 'RuntimeDefault');
    assert.deepEqual(containers[0]?.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const windows = specOf({ os: { name: 'windows' } });
    assert.equal(windows.securityContext?.seccompProfile, undefined);
    assert.deepEqual(windows.containers[0]?.securityContext, {});
  });

  it('belongs to the pod that asks, so that no DaemonSet can adopt it', () => {
    const { metadata } = pullPodOf(daemonSet, request, templateWith());
    assert.deepEqual(metadata?.ownerReferences, [
      { apiVersion: 'v1', kind: 'Pod', name: 'app-x', uid: 'p1', controller: true },
    ]);
    assert.equal(metadata.labels?.[PULL_LABEL], 'd1');
    assert.equal(metadata.labels['controller-revision-hash'], undefined);
  });

  it('has the name of its pod and revision', () => {
    assert.equal(pullPodName('p1', 'b'), pullPodName('p1', 'b'));
    assert.notEqual(pullPodName('p1', 'b'), pullPodName('p1', 'c'));
    assert.notEqual(pullPodName('p1', 'b'), pullPodName('p2', 'b'));
    assert.match(pullPodName('p1', 'b'), /^[a-z0-9-]{1,63}$/);
  });
});

const shown = (status: NonNullable<Pod['status']>, images = ['app:v2']): Pod => {
  const containers = images.map((image, index) => ({ name: `c${index}`, image }));
  return { ...pullPodOf(daemonSet, request, templateWith({ containers })), status };
};
const container = (state: object, imageID = '', image = 'app:v2') => ({
  name: 'image-0',
  image,
  imageID,
  ready: false,
  restartCount: 0,
  state,
});
const waiting = (reason: string, message?: string, image?: string) =>
  container({ waiting: { reason, ...(message !== undefined && { message }) } }, '', image);
const progress = (status: NonNullable<Pod['status']>, images?: string[]) => toPullView(shown(status, images))?.progress;

describe('the progress of a pull pod', () => {
  // As reported by a real kubelet with containerd.
  const startError = container({ terminated: { exitCode: 128, reason: 'StartError' } }, 'app@sha256:1');

  const present: [string, NonNullable<Pod['status']>][] = [
    ['the program could not be started', { phase: 'Failed', containerStatuses: [startError] }],
    ['the runtime could not set the container up', { containerStatuses: [waiting('RunContainerError')] }],
    ['the container could not be made', { containerStatuses: [waiting('CreateContainerError')] }],
    ['its user was refused', { containerStatuses: [waiting('CreateContainerConfigError')] }],
  ];
  for (const [why, status] of present)
    it(`is complete when ${why}`, () => assert.deepEqual(progress(status), { kind: 'present' }));

  it('is complete when all images are present, and not before', () => {
    const containerStatuses = [startError, waiting('ContainerCreating', undefined, 'b')];
    assert.deepEqual(progress({ containerStatuses }, ['a', 'b']), { kind: 'pulling', blocker: 'waits for b' });
    assert.equal(progress({ containerStatuses: [startError] }, ['a', 'b'])?.kind, 'pulling');
    assert.equal(progress({ containerStatuses: [startError, startError] }, ['a', 'b'])?.kind, 'present');
  });

  it('has failed with the message of the kubelet', () => {
    const message = 'rpc error: code = NotFound\n desc = app:v2: not found';
    assert.deepEqual(progress({ containerStatuses: [waiting('ErrImagePull', message)] }), {
      kind: 'failed',
      cause: 'app:v2: rpc error: code = NotFound desc = app:v2: not found',
    });
    assert.deepEqual(progress({ containerStatuses: [waiting('InvalidImageName')] }), {
      kind: 'failed',
      cause: 'app:v2: InvalidImageName',
    });
    const long = progress({ containerStatuses: [waiting('ImagePullBackOff', 'x'.repeat(5_000))] });
    assert.ok(long?.kind === 'failed' && long.cause.length <= 300);
  });

  it('has not failed while the kubelet has another image to try', () => {
    const containerStatuses = [waiting('ErrImagePull', 'not found', 'a'), waiting('ContainerCreating', undefined, 'b')];
    assert.deepEqual(progress({ containerStatuses }, ['a', 'b']), { kind: 'pulling', blocker: 'a: not found' });
  });

  it('has failed when the node evicts it, and says why', () => {
    const message = 'The node had condition: [DiskPressure]. ';
    assert.deepEqual(progress({ phase: 'Failed', reason: 'Evicted', message }), {
      kind: 'failed',
      cause: 'the pull pod ended: Evicted: The node had condition: [DiskPressure].',
    });
  });

  it('waits for a node without room, with the message of the scheduler', () => {
    const conditions = [
      { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1: Too many pods' },
    ];
    assert.deepEqual(progress({ conditions }), { kind: 'pulling', blocker: 'Unschedulable: 0/1: Too many pods' });
  });

  it('is not kept for a pod that we did not create', () => {
    const ours = shown({});
    const strangers: Pod[] = [
      { ...ours, metadata: { ...ours.metadata, name: 'other' } },
      { ...ours, metadata: { ...ours.metadata, ownerReferences: [] } },
      { ...ours, metadata: { ...ours.metadata, labels: {} } },
      { ...ours, metadata: { ...ours.metadata, annotations: {} } },
    ];
    assert.ok(toPullView(ours));
    for (const stranger of strangers) assert.equal(toPullView(stranger), undefined);
  });
});
