import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import { createTestClock, settle } from '../../test/support/index.ts';
import { daemonSets, nodes, pods } from '../kube/index.ts';
import { type PodFacts, toPodFacts } from '../rollout/index.ts';
import { silentLogger } from '../runtime/index.ts';
import type { DaemonRollout } from '../words/index.ts';
import type { DaemonSetView } from './kind.ts';
import type { KindAdapter, ManagedKind, ManageInput, ReconcilerContext, Target } from './kind-adapter.ts';
import { createController } from './loop/controller.ts';
import { daemonRollouts } from './status/daemon-rollout.ts';
import { createTestApi } from './testing/api.ts';
import { createTestRecorder, testKind } from './testing/fixtures.ts';

/** Keeps pods without an owner, too. */
interface Kept {
  name: string;
  facts: PodFacts | undefined;
}

const known: Target = { kind: 'known', revision: { name: 'app-2', hash: 'h2', number: 2 } };

/** A controller of a kind whose adapter the test watches, with a node, a DaemonSet and its pod. */
const prepare = async (target: Target, stop?: () => Promise<void>) => {
  const clock = createTestClock();
  const api = createTestApi(clock);
  const calls: ManageInput<DaemonSetView>[] = [];
  const times: number[] = [];
  const touched: string[] = [];
  const sent: string[] = [];
  let manageAt = Number.POSITIVE_INFINITY;
  let held: Promise<void> | undefined;
  let context: ReconcilerContext<DaemonSetView, Kept> | undefined;
  const kind: ManagedKind<DaemonSet, DaemonSetView, Kept> = {
    ...testKind,
    controller: 'test',
    pods: {
      project: (pod, uid) => ({
        name: pod.metadata?.name ?? '',
        facts: pod.metadata?.ownerReferences?.some((owner) => owner.uid === uid) ? toPodFacts(pod) : undefined,
      }),
      facts: ({ facts }) => facts,
    },
    createAdapter(given): KindAdapter<DaemonSetView, Kept> {
      context = given;
      return {
        reportError: () => undefined,
        findTarget: () => Promise.resolve(target),
        podWrites: {
          delete(node, pod, signal) {
            sent.push(node);
            return given.podControl.delete(pod, signal);
          },
          fence: (_node, pod, signal) => given.podControl.fence(pod, signal),
        },
        restoreTemplate: () => Promise.reject(new Error('not supported')),
        async manage(input) {
          calls.push(input);
          times.push(clock.now());
          await held;
          return manageAt > clock.now() ? manageAt : Number.POSITIVE_INFINITY;
        },
        eventHandlers: { node: (name) => void touched.push(name), pod: ({ name }) => touched.push(name) > 0 },
        ...(stop && { drain: stop }),
      };
    },
  };
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2025-01-01T00:00:00Z' }];
  api.objects.create(nodes, { metadata: { name: 'n1' }, status: { conditions } } as Node);
  const set = api.objects.create(daemonSets, {
    metadata: { namespace: 'edge', name: 'app', annotations: { 'apps.openyurt.io/update-strategy': 'auto' } },
    spec: { selector: { matchLabels: { app: 'app' } }, template: { spec: { containers: [] } } },
  } as DaemonSet);
  const addPod = (name: string, owner: string | undefined): void => {
    const reference = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'app', uid: owner ?? '', controller: true };
    const labels = { app: 'app', 'controller-revision-hash': 'h1' };
    const metadata = { namespace: 'edge', name, labels, ...(owner && { ownerReferences: [reference] }) };
    api.objects.create(pods, { metadata, spec: { nodeName: 'n1', containers: [] }, status: { conditions } } as Pod);
  };
  addPod('own', set.metadata?.uid);
  const env = { clock, random: () => 0.5, log: silentLogger };
  const { recorder, reasons } = createTestRecorder();
  const controller = createController(kind, { client: api.client, env, events: recorder, identity: 'm1' });
  const end = new AbortController();
  const running = controller.run(end.signal);
  const leading = new AbortController();
  const led = controller.lead(leading.signal);
  await clock.advance(1_000);
  return {
    api,
    clock,
    calls,
    times,
    touched,
    sent,
    reasons,
    addPod,
    setManageAt: (at: number) => (manageAt = at),
    /** What `manage` waits for from now on. */
    setHeld: (until: Promise<void>): void => {
      held = until;
    },
    context: () => context,
    rollout: () => api.objects.all(daemonRollouts)[0] as DaemonRollout | undefined,
    resign: (): Promise<void> => {
      leading.abort(new Error('resigned'));
      return led;
    },
    end: async (): Promise<void> => {
      leading.abort(new Error('over'));
      end.abort(new Error('over'));
      await clock.advance(1_000);
      await Promise.all([running, led]);
    },
  };
};

describe('the adapter of a kind', () => {
  it('executes the updates whose slots are reserved, under the name that the kind gives the rollout', async () => {
    const { sent, api, rollout, reasons, end } = await prepare(known);
    assert.deepEqual(sent, ['n1']);
    assert.ok((api.objects.all(pods)[0] as Pod).metadata?.deletionTimestamp);
    assert.equal(rollout()?.metadata.name, 'app.test');
    assert.equal(rollout()?.metadata.ownerReferences?.[0]?.name, 'app');
    assert.ok(reasons().includes('SuccessfulDelete'));
    await end();
  });

  it('gets the pods that its projection keeps, and the ledger those that the DaemonSet owns', async () => {
    const { context, addPod, clock, touched, calls, api, end } = await prepare(known);
    const before = calls.length;
    touched.length = 0;
    addPod('orphan', undefined);
    await clock.advance(500);
    assert.equal(context()?.pods.get('edge/orphan')?.name, 'orphan');
    assert.deepEqual(
      context()
        ?.ledger.get('n1')
        ?.pods.map(({ facts }) => facts.name),
      ['own'],
    );
    assert.ok(calls.length > before, 'a pod that is only kept triggers a reconcile too');
    assert.deepEqual(touched, ['orphan']);
    api.objects.patch(pods, { namespace: 'edge', name: 'own' }, { metadata: { ownerReferences: null } });
    await clock.advance(500);
    assert.deepEqual(context()?.ledger.get('n1')?.pods, [], 'the ledger has no released pod');
    await end();
  });

  it('gets every node again when the DaemonSet looks for others, and none for another budget or image', async () => {
    const { api, clock, touched, context, end } = await prepare(known);
    const patch = async (change: object): Promise<void> => {
      touched.length = 0;
      api.objects.patch(daemonSets, { namespace: 'edge', name: 'app' }, change);
      await clock.advance(500);
    };
    await patch({ metadata: { annotations: { 'apps.openyurt.io/max-unavailable': '7' } } });
    assert.equal(context()?.ledger.policy.maxUnavailable.value, 7);
    await patch({
      spec: { template: { spec: { containers: [{ name: 'a', image: 'b' }] } } },
    });
    assert.equal(context()?.view().generation, 2);
    assert.deepEqual(touched, []);
    await patch({ spec: { template: { spec: { nodeSelector: { site: 'a' } } } } });
    assert.deepEqual(touched, ['n1']);
    assert.equal(context()?.ledger.get('n1')?.node?.eligible, false);
    await patch({ metadata: { annotations: { 'edgeset.io/topology-key': 'zone' } } });
    assert.deepEqual(touched, ['n1']);
    await end();
  });

  it('may take its time: the status is about the moment at which it is written', async () => {
    const { api, clock, calls, setHeld, context, rollout, end } = await prepare(known);
    const setReady = (status: 'True' | 'False'): void => {
      const conditions = [{ type: 'Ready', status }];
      api.objects.patch(nodes, { name: 'n1' }, { status: { conditions } });
    };
    setReady('False');
    await clock.advance(5_000);
    assert.equal(rollout()?.status?.summary, 'Complete (1 offline)');
    const hold = Promise.withResolvers<void>();
    setHeld(hold.promise);
    const before = calls.length;
    context()?.enqueue();
    await clock.advance(10);
    assert.equal(calls.length, before + 1);
    setReady('True');
    await clock.advance(60_000);
    assert.equal(calls.length, before + 1);
    hold.resolve();
    const told: unknown[] = [];
    for (let count = 0; count < 20; count += 1) {
      await settle();
      told.push(rollout()?.status?.summary);
    }
    assert.equal(rollout()?.status?.nodes?.online, 1);
    assert.ok(!told.includes('Complete'), String(told));
    await end();
  });

  it('manages after each decision, again at the time that it returns, and not while a watch is stale', async () => {
    const { calls, times, clock, setManageAt, context, api, end } = await prepare(known);
    assert.equal(calls.at(-1)?.decision.summary.hold, undefined);
    const at = clock.now() + 30_123;
    setManageAt(at);
    context()?.enqueue();
    await clock.advance(40_000);
    assert.ok(times.includes(at));
    api.silence('nodes');
    await clock.advance(180_000);
    const silent = calls.length;
    context()?.enqueue();
    await clock.advance(500);
    assert.equal(calls.length, silent);
    await end();
  });

  it('holds everything without a target, and the reason is reported before there ever was one', async () => {
    const errors = [{ field: 'spec.template', value: '', problem: 'is refused', remedy: 'fix it' }];
    const { sent, calls, rollout, end } = await prepare({
      kind: 'held',
      hold: { kind: 'invalid', errors },
      recheckAt: Number.POSITIVE_INFINITY,
    });
    assert.deepEqual(sent, []);
    assert.equal(calls.at(-1)?.decision.summary.hold?.kind, 'invalid');
    const stalled = rollout()?.status?.conditions?.find(({ type }) => type === 'Stalled');
    assert.match(stalled?.message ?? '', /spec\.template.*fix it/);
    await end();
  });

  it('ends its own writes before another process may lead', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { resign, end } = await prepare(known, () => promise);
    let resigned = false;
    const resigning = resign().then(() => (resigned = true));
    await settle();
    assert.equal(resigned, false);
    resolve();
    await resigning;
    await end();
  });
});
