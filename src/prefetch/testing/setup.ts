import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import { createEmbeddedCluster, createInProcessClient } from '../../../embedded/index.ts';
import { controllerRevisions, daemonSets, type KubeClient, nodes, pods } from '../../kube/index.ts';
import {
  createNodeReader,
  imageReadyOf,
  isRequestedByOwner,
  openImageRequest,
  toPodFacts,
} from '../../rollout/index.ts';
import { createRandom, createVirtualClock, silentLogger } from '../../runtime/index.ts';
import { createPrefetch } from '../prefetch.ts';
import { PULL_LABEL, pullPodName, REVISION_ANNOTATION } from '../pull-pod.ts';

export const NAMESPACE = 'default';
export const inNamespace = { namespace: NAMESPACE };

export type Stored<T> = T & { metadata: { name: string; namespace: string; uid: string; resourceVersion: string } };

/** A cluster of two nodes with a DaemonSet whose second revision is announced; the pods' requests are reported to a prefetch. */
export const createSetup = async (t: TestContext, image = 'app:v2') => {
  const clock = createVirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const env = { clock, random: createRandom(1), log: silentLogger };
  const cluster = createEmbeddedCluster({ env, graceMs: 5_000, delays: { startMs: 300, stopMs: 200 } });
  const { apiServer } = cluster;
  const api = createInProcessClient(apiServer);
  for (const name of ['n1', 'n2']) cluster.addNode(name);
  apiServer.create<object>(daemonSets, {
    metadata: { name: 'app', namespace: NAMESPACE },
    spec: {
      selector: { matchLabels: { app: 'app' } },
      updateStrategy: { type: 'OnDelete' },
      template: { metadata: { labels: { app: 'app' } }, spec: { containers: [{ name: 'app', image: 'app:v1' }] } },
    },
  });

  const run = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 100) {
      clock.run(Math.min(100, left));
      // Watches and responses take a few turns of the event loop.
      for (let turn = 0; turn < 3; turn++) await setImmediate();
    }
  };
  const all = (): Stored<Pod>[] => [...apiServer.list<Stored<Pod>>(pods, inNamespace)];
  const isPull = ({ metadata }: Stored<Pod>): boolean => metadata.labels?.[PULL_LABEL] !== undefined;
  const find = (node: string): Stored<Pod> => {
    const found = all().find((pod) => !isPull(pod) && pod.spec?.nodeName === node);
    assert.ok(found);
    return found;
  };
  const setImage = (to: string): void =>
    void apiServer.patch<Stored<object>>(
      daemonSets,
      { ...inNamespace, name: 'app' },
      { spec: { template: { spec: { containers: [{ name: 'app', image: to }] } } } },
      { type: 'strategic' },
    );
  const hash = (): string => {
    const revisions = apiServer.list<Stored<ControllerRevision>>(controllerRevisions, inNamespace);
    const [newest] = revisions.toSorted((a, b) => b.revision - a.revision);
    return newest?.metadata.labels?.['controller-revision-hash'] ?? '';
  };
  const condition = (
    node: string,
    type: string,
    status: string,
    reason: string,
    message: string,
    lastTransitionTime?: string,
  ): void =>
    void apiServer.patch<Stored<object>>(
      pods,
      { ...inNamespace, name: find(node).metadata.name },
      { status: { conditions: [{ type, status, reason, message, lastTransitionTime }] } },
      { type: 'strategic', subresource: 'status' },
    );
  const announce = (node: string): void =>
    condition(node, 'PodNeedUpgrade', 'True', 'NewRevision', `controllerrevision: ${hash()}`);
  const ask = (node: string): void =>
    condition(node, 'PodImageReady', 'False', 'PullingImage', `controllerrevision: ${hash()}`);
  /** The kubelet has deleted the images so often, the last time so long ago. */
  const askAgain = (node: string, deletions: number, agoMs: number): void => {
    const message = `controllerrevision: ${hash()}; deleted by the kubelet: ${deletions}`;
    const lastTransitionTime = new Date(clock.now() - agoMs).toISOString();
    condition(node, 'PodImageReady', 'False', 'PullingImage', message, lastTransitionTime);
  };

  await run(2_000);
  setImage(image);
  await run(1_000);

  const daemonSetUid = apiServer.get<Stored<object>>(daemonSets, { ...inNamespace, name: 'app' }).metadata.uid;
  const start = (
    how: {
      client?: Partial<KubeClient>;
      complete?: () => boolean;
      serves?: () => boolean;
      parallelism?: number;
      auto?: boolean;
    } = {},
  ) => {
    const readNode = createNodeReader();
    const nodeInfo = (name: string) =>
      apiServer
        .list<Stored<Node>>(nodes, {})
        .map(readNode)
        .find((each) => each.name === name);
    const prefetch = createPrefetch({
      client: { ...api, ...how.client },
      env,
      cluster: { node: nodeInfo, complete: how.complete ?? (() => true), serves: how.serves ?? (() => false) },
    });
    const stop = new AbortController();
    const running = [prefetch.run(stop.signal), prefetch.lead(stop.signal)];
    t.after(() => stop.abort());
    return {
      prefetch,
      /** Reports the pods' requests, as their controller does. */
      report(served = true): void {
        const asked = all().flatMap((pod) => {
          const facts = isPull(pod) ? undefined : toPodFacts(pod);
          const requested = facts && openImageRequest(facts);
          if (!facts || !requested || !(how.auto || isRequestedByOwner(facts, requested.revision))) return [];
          const { uid, name, node, resourceVersion, revision: runs } = facts;
          const ref = { podUid: uid, podName: name, node, resourceVersion };
          return [[uid, { ...ref, ...requested, ...(how.auto && { runs }) }] as const];
        });
        const daemonSet = {
          namespace: NAMESPACE,
          name: 'app',
          uid: daemonSetUid,
          pullTimeoutMs: 60_000,
          parallelism: how.parallelism ?? 10,
        };
        prefetch.requests.update(daemonSet, served ? new Map(asked) : undefined);
      },
      async end(): Promise<void> {
        stop.abort();
        await Promise.all(running);
      },
    };
  };
  return {
    cluster,
    apiServer,
    run,
    setImage,
    hash,
    start,
    find,
    pulls: (): Stored<Pod>[] => all().filter(isPull),
    /** Another user creates a pod that looks like the pull pod of a pod on n1, whose images are present, with a finalizer. */
    forge(namespace: string, podUid: string): void {
      const name = pullPodName(podUid, hash());
      apiServer.create<object>(pods, {
        metadata: {
          name,
          namespace,
          labels: { [PULL_LABEL]: daemonSetUid },
          annotations: { [REVISION_ANNOTATION]: hash() },
          finalizers: ['example.org/stays'],
          ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'app', uid: podUid, controller: true }],
        },
        spec: { nodeName: 'n2', containers: [{ name: 'image-0', image: 'app:v2' }] },
      });
      const containerStatuses = [
        { name: 'image-0', image: 'app:v2', imageID: 'app@sha256:1', ready: false, restartCount: 0 },
      ];
      const options = { type: 'strategic', subresource: 'status' } as const;
      apiServer.patch<object>(pods, { namespace, name }, { status: { containerStatuses } }, options);
    },
    announce,
    ask,
    askAgain,
    /** A manager that knows of a request for the images on n1. */
    startRequested(how: Parameters<typeof start>[0] = {}) {
      const manager = start(how);
      announce('n1');
      ask('n1');
      manager.report();
      return manager;
    },
    outcome: (node: string) => imageReadyOf(find(node)),
    api,
    /** A watch that delivers no object. */
    behind: async function* (resource, options) {
      for await (const event of api.watch(resource, options)) if (event.type === 'BOOKMARK') yield event;
    } satisfies KubeClient['watch'],
  };
};
