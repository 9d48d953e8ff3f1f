import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventually } from '../../../../support/index.ts';
import { type Application, isSucceeded, type ReplicaSet, statusOf, strategyOf } from '../application.ts';
import { canary, type Fixture, first, second, within } from '../fixture.ts';
import { setRing } from '../rig.ts';

/** What a ring does when the hub can't reach a cluster. */
export const describeOffline = (fixture: () => Fixture): void => {
  const wantedInShops = async (app: Application): Promise<unknown[]> => [
    await app.wanted(first),
    await app.wanted(second),
  ];

  it('a cluster that is away blocks nothing, keeps what it has, and follows when it is back', async () => {
    const { opened, goAway, comeBack, rig } = fixture();
    const app = await opened();
    // Where it would hold the others.
    await setRing(rig.hub, second, 'canary');
    const before = await app.daemonSet<{ metadata: { uid: string } }>(second);
    await goAway(second, 'away');
    await app.release('v2');
    await app.runs('v2', canary, first);
    assert.deepEqual(await app.running(second), ['v1']);
    await comeBack(second);
    await app.runs('v2', second);
    await app.until('success is reported', second, isSucceeded);
    const after = await app.daemonSet<{ metadata: { uid: string } }>(second);
    assert.equal(after.metadata.uid, before.metadata.uid);
    await app.remove();
  });

  it('without a canary that is online, the shops are the first ring', async () => {
    const { opened, goAway, comeBack } = fixture();
    const app = await opened();
    await goAway(canary, 'away');
    await app.release('v2');
    await app.runs('v2', first, second);
    await comeBack(canary);
    await app.runs('v2', canary);
    await app.remove();
  });

  /** A release that takes a while to prove itself, so that its success is reported later. */
  const slowly = (set: ReplicaSet): void => {
    const { manifests } = set.spec.manifestWorkTemplate.workload;
    for (const { kind, spec } of manifests) if (kind === 'DaemonSet' && spec) spec.minReadySeconds = 5;
  };

  it('a suspect that went away before it could report success holds its ring until it is back', async () => {
    const { opened, goAway, comeBack, engineWorks } = fixture();
    const app = await opened();
    await app.release('v2', slowly);
    await eventually('the canary begins', async () => (await app.running(canary)).includes('v2'), within);
    await goAway(canary, 'suspect');
    // In its own cluster the rollout ends well, and nobody outside can know.
    await app.runs('v2', canary);
    await engineWorks(first, second);
    assert.deepEqual(await wantedInShops(app), ['v1', 'v1']);
    await comeBack(canary);
    await app.runs('v2', first, second);
    await app.remove();
  });

  it('a suspect that had reported success holds its ring no longer than minSuccessTime', async () => {
    const { opened, goAway, comeBack } = fixture();
    const app = await opened();
    await app.release('v2', (set) => {
      strategyOf(set).minSuccessTime = '20s';
    });
    await app.until('v2 succeeds', canary, (work) => app.releaseOf(work) === 'v2' && isSucceeded(work));
    await goAway(canary, 'suspect');
    assert.deepEqual(await wantedInShops(app), ['v1', 'v1']);
    await app.runs('v2', first, second);
    await comeBack(canary);
    await app.remove();
  });

  it('it holds once its ManifestWork was touched: the hub then waits for another report', async () => {
    const { opened, goAway, comeBack, engineWorks, rig } = fixture();
    const app = await opened();
    const patient = (set: ReplicaSet): void => {
      strategyOf(set).minSuccessTime = '10m';
    };
    await app.release('v2', patient);
    await app.until('v2 succeeds', canary, (work) => app.releaseOf(work) === 'v2' && isSucceeded(work));
    await goAway(canary, 'suspect');
    await rig.hub.api.patch(
      `/apis/work.open-cluster-management.io/v1/namespaces/${canary}/manifestworks/${app.name}`,
      { spec: { deleteOption: { propagationPolicy: 'Foreground' } } },
      'merge-patch',
    );
    const touched = await app.until(
      'it is set back',
      canary,
      ({ metadata, spec }) => metadata.generation > 3 && spec.deleteOption?.propagationPolicy === 'Orphan',
    );
    assert.equal(statusOf(touched, 'Progressing'), undefined);
    await app.release('v2');
    await engineWorks(first, second);
    assert.deepEqual(await wantedInShops(app), ['v1', 'v1']);
    await comeBack(canary);
    await app.runs('v2', first, second);
    await app.remove();
  });

  it('an offline cluster that nobody labels blocks its ring, whatever the deadline', async () => {
    const { opened, goAway, comeBack, engineWorks } = fixture();
    const app = await opened();
    await goAway(canary);
    await app.release('v2', (set) => {
      strategyOf(set).progressDeadline = '1s';
    });
    await app.until('it is to have v2', canary, (work) => app.releaseOf(work) === 'v2');
    await engineWorks(first, second);
    assert.deepEqual(await wantedInShops(app), ['v1', 'v1']);
    await comeBack(canary);
    await app.runs('v2', first, second);
    await app.remove();
  });
};
