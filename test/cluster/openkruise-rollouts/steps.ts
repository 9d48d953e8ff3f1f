import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pods } from '../../../src/kube/index.ts';
import { eventually } from '../../support/index.ts';
import type { RealCluster } from '../cluster.ts';
import { startOpenKruiseRollouts } from './openkruise-rollouts.ts';

interface DaemonSet {
  metadata: { annotations?: Record<string, string> };
  spec: { updateStrategy: { rollingUpdate: { partition?: number } } };
  status: { numberReady: number };
}

interface Rollout {
  status?: {
    phase?: string;
    canaryStatus?: { currentStepIndex: number; currentStepState: string };
  };
}

const IN_PROGRESS = 'rollouts.kruise.io/in-progressing';
const patience = { withinMs: 120_000, everyMs: 100 };

/** The nodes of an Advanced DaemonSet follow the steps of a Rollout of OpenKruise. */
export const describeOpenKruiseRollouts = (open: () => RealCluster): void => {
  void it('OpenKruise Rollouts leads it through its steps, each approved', async () => {
    const cluster = open();
    const { client, plane } = cluster;
    const { api } = plane;
    const namespace = await cluster.createNamespace('steps');
    const nodes = [1, 2, 3, 4, 5].map((number) => `${namespace}-${number}`);
    await cluster.addNodes(nodes, { labels: { case: namespace } });
    const manager = await cluster.startManager({ namespace, args: ['--leader-elect=false'] });
    const theirs = await startOpenKruiseRollouts(plane);

    const app = `/apis/apps.kruise.io/v1beta1/namespaces/${namespace}/daemonsets/app`;
    const rollout = `/apis/rollouts.kruise.io/v1beta1/namespaces/${namespace}/rollouts/app`;
    const until = async <T>(what: string, probe: () => Promise<T>) =>
      eventually(what, probe, patience).catch(async (cause) => {
        const state = JSON.stringify([await api.get(rollout), await api.get(app)]);
        throw new Error(`${state}\n${await theirs.log()}\n${await manager.log()}`, { cause });
      });
    const nodesWith = async (image: string): Promise<string[]> =>
      (await client.list(pods, { namespace })).items
        .filter(({ spec }) => spec?.containers[0]?.image === image)
        .map(({ spec }) => spec?.nodeName ?? '')
        .toSorted();
    /** It waits there for an approval. */
    const pausedAt = (step: number) =>
      until(`it waits after step ${step}`, async () => {
        const { status } = await api.get<Rollout>(rollout);
        const { currentStepIndex, currentStepState } = status?.canaryStatus ?? {};
        return currentStepIndex === step && currentStepState === 'StepPaused';
      });
    /**
     * As its plugin of kubectl does. Their controller writes the status that it has computed also over a newer one, which
     * takes an approval back: then it is given again, as a user would.
     */
    const approve = (step: number) =>
      until(`step ${step} is approved`, async () => {
        const { status } = await api.get<Rollout>(rollout);
        const { currentStepIndex, currentStepState } = status?.canaryStatus ?? {};
        if (currentStepIndex !== step || currentStepState === 'Completed') return true;
        const state = { canaryStatus: { currentStepState: 'StepReady' } };
        if (currentStepState === 'StepPaused') await api.patch(`${rollout}/status`, { status: state }, 'merge-patch');
        return false;
      });
    /** Their controller says so in two writes: the phase, and then that all steps are done. */
    const healthy = () =>
      until('the rollout is healthy', async () => {
        const { status } = await api.get<Rollout>(rollout);
        return status?.phase === 'Healthy' && status.canaryStatus?.currentStepState === 'Completed';
      });

    await api.apply(app, {
      apiVersion: 'apps.kruise.io/v1beta1',
      kind: 'DaemonSet',
      metadata: { name: 'app' },
      spec: {
        selector: { matchLabels: { app: 'x' } },
        template: {
          metadata: { labels: { app: 'x' } },
          spec: { nodeSelector: { case: namespace }, containers: [{ name: 'main', image: 'app:v1' }] },
        },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } },
      },
    });
    await until('all nodes run it', async () => (await api.get<DaemonSet>(app)).status.numberReady === nodes.length);
    await api.apply(rollout, {
      apiVersion: 'rollouts.kruise.io/v1beta1',
      kind: 'Rollout',
      metadata: { name: 'app' },
      spec: {
        workloadRef: { apiVersion: 'apps.kruise.io/v1alpha1', kind: 'DaemonSet', name: 'app' },
        // A pause after all nodes is sometimes passed without an approval.
        strategy: {
          canary: {
            steps: [{ replicas: 1, pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }],
          },
        },
      },
    });
    await healthy();

    const image = [{ name: 'main', image: 'app:v2' }];
    const edited = await api.patch<DaemonSet>(
      app,
      { spec: { template: { spec: { containers: image } } } },
      'merge-patch',
    );
    assert.ok(edited.metadata.annotations?.[IN_PROGRESS], 'their webhook holds the edit back');
    await pausedAt(1);
    assert.equal((await nodesWith('app:v2')).length, 1);
    await approve(1);
    await pausedAt(2);
    assert.equal((await nodesWith('app:v2')).length, 3);

    await approve(2);
    await healthy();
    assert.deepEqual(await nodesWith('app:v2'), nodes);
    const { metadata, spec } = await api.get<DaemonSet>(app);
    assert.equal(metadata.annotations?.[IN_PROGRESS], undefined);
    assert.equal(spec.updateStrategy.rollingUpdate.partition ?? 0, 0);
    await theirs.stop();
    await manager.stop();
  });
};
