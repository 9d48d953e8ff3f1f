import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventually } from '../../../../support/index.ts';
import { isFailed, isSucceeded, type ReplicaSet, statusOf, strategyOf } from '../application.ts';
import { canary, type Fixture, first, second, within } from '../fixture.ts';
import { applyPlacement } from '../placement.ts';
import { NAMESPACE, setRing } from '../rig.ts';

interface Identified {
  metadata: { uid: string };
}

/** What the engine does with other settings than ours: the reasons for them. */
export const describeFaults = (fixture: () => Fixture): void => {
  it('a tolerated time-out opens the next ring while a cluster of this one has not begun', async () => {
    const { opened, goAway, comeBack, engineWorks, rig } = fixture();
    const app = await opened();
    await setRing(rig.hub, second, 'canary');
    await goAway(second);
    const tolerating = (maxFailures: number) => (set: ReplicaSet) => {
      Object.assign(strategyOf(set), { maxFailures, progressDeadline: '1s' });
    };
    await app.release('v2--never-ready', tolerating(0));
    await app.until('it is in progress', canary, (work) => statusOf(work, 'Progressing') === 'True');
    await engineWorks(canary, first);
    assert.equal(await app.wanted(first), 'v1');
    await app.release('v2--never-ready', tolerating(1));
    await eventually('the next ring is open', async () => (await app.wanted(first)) === 'v2--never-ready', within);
    const notBegun = await app.work(second);
    assert.ok(notBegun && statusOf(notBegun, 'Progressing') === undefined);
    await comeBack(second);
    await app.remove();
  });

  it('without tolerations an offline cluster loses its ManifestWork; with Orphan, it keeps its DaemonSet', async () => {
    const { opened, goAway, comeBack, rig } = fixture();
    await applyPlacement(rig.hub, ({ metadata, spec }) => {
      metadata.name = 'intolerant';
      delete spec.tolerations;
    });
    const lose = async (propagationPolicy: string): Promise<boolean> => {
      const app = await opened(({ spec }) => {
        for (const placement of spec.placementRefs) placement.name = 'intolerant';
        spec.manifestWorkTemplate.deleteOption = { propagationPolicy };
      });
      await goAway(second);
      await app.until('it is to be deleted', second, ({ metadata }) => metadata.deletionTimestamp !== undefined);
      const before = await app.daemonSet<Identified>(second);
      await comeBack(second);
      await app.until('it has another one', second, isSucceeded);
      await app.runs('v1', second);
      const isKept = (await app.daemonSet<Identified>(second)).metadata.uid === before.metadata.uid;
      await app.remove();
      return isKept;
    };
    assert.equal(await lose('Foreground'), false);
    assert.equal(await lose('Orphan'), true);
  });

  it('a second rule for Degraded hides the failure: one False makes the whole False', async () => {
    const { opened } = fixture();
    const app = await opened();
    await app.release('v2--crash-loop', ({ spec: { manifestWorkTemplate: template } }) => {
      const metadata = { name: 'settings', namespace: app.name };
      template.workload.manifests.push({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
      template.manifestConfigs.push({
        resourceIdentifier: { group: '', resource: 'configmaps', ...metadata },
        conditionRules: [{ condition: 'Degraded', type: 'CEL', celExpressions: ['false'] }],
      });
    });
    const hidden = await app.until('the DaemonSet is degraded', canary, ({ status }) =>
      (status?.resourceStatus?.manifests ?? []).some(
        ({ resourceMeta, conditions }) =>
          resourceMeta.kind === 'DaemonSet' &&
          conditions.some(({ type, status: is }) => type === 'Degraded' && is === 'True'),
      ),
    );
    assert.equal(statusOf(hidden, 'Degraded'), 'False');
    assert.equal(isFailed(hidden), false);
    await app.remove();
  });

  it('between two PlacementDecisions, a cluster loses its ManifestWork; its DaemonSet and its pods stay', async () => {
    const { opened, rig } = fixture();
    const app = await opened();
    const [before, pods] = [await app.daemonSet<Identified>(canary), await app.pods(canary)];
    const { uid } = (await app.work(canary))?.metadata ?? {};
    // The placement controller writes one after the other: the cluster leaves the first before it enters the second.
    rig.hub.placement.pause();
    const path = `/apis/cluster.open-cluster-management.io/v1beta1/namespaces/${NAMESPACE}/placementdecisions/shops-decision-1`;
    try {
      await rig.hub.api.patch(`${path}/status`, { status: { decisions: [] } }, 'merge-patch');
      await eventually('its work is gone', async () => !(await app.work(canary)), within);
    } finally {
      rig.hub.placement.resume();
    }
    await app.until('it has another one', canary, (work) => work.metadata.uid !== uid && isSucceeded(work));
    assert.equal((await app.daemonSet<Identified>(canary)).metadata.uid, before.metadata.uid);
    assert.deepEqual(await app.pods(canary), pods);
    await app.remove();
  });
};
