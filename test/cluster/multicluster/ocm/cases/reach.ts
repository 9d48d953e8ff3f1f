import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { eventually } from '../../../../support/index.ts';
import { kubectl } from '../../../kubectl.ts';
import type { Program } from '../../../processes.ts';
import { shippedProgram } from '../../../shipped.ts';
import { isSucceeded, type ReplicaSet, statusOf, strategyOf } from '../application.ts';
import { canary, type Fixture, first, second, shops, within } from '../fixture.ts';
import { reachOf, renewLease } from '../rig.ts';

/** The same with `edgeset reach` itself; the test only renews the Leases. */
export const describeReach = (fixture: () => Fixture): void => {
  const startReach = async ({ rig: { hub } }: Fixture, suspectWindow: string): Promise<Program> =>
    hub.plane.processes.start({
      name: 'edgeset-reach',
      file: process.execPath,
      args: [
        await shippedProgram('manager'),
        'reach',
        `--kubeconfig=${join(hub.plane.dir, 'admin.kubeconfig')}`,
        '--leader-elect=false',
        '--metrics-bind-address=0',
        '--health-probe-bind-address=0',
        '--settle-time=1s',
        `--suspect-window=${suspectWindow}`,
      ],
    });

  it('edgeset reach keeps clusters that are away out of their ring, and suspects in it, also one that is held by hand', async () => {
    const { opened, goAway, connect, engineWorks, rig } = fixture();
    const { hub } = rig;
    const isLabelled = (name: string, reach: string): Promise<unknown> =>
      eventually(`${name} is ${reach}`, async () => (await reachOf(hub, name)) === reach, within);
    const app = await opened();
    const openedAt = Date.now();
    let reach = await startReach(fixture(), '1s');
    try {
      // Times of the API server are whole seconds.
      const isOld = (): boolean => Date.now() > openedAt + 3_000;
      await eventually('the last update is no longer new', isOld, within);
      for (const name of shops) await renewLease(hub, name);
      await goAway(second);
      await isLabelled(second, 'away');
      await app.release('v2');
      await app.runs('v2', canary, first);
      assert.deepEqual(await app.running(second), ['v1']);
      await connect(second);
      await isLabelled(second, 'online');
      await app.runs('v2', second);

      // It stores nothing. With this window, however long the rollout takes here, the suspect is one.
      await reach.stop();
      reach = await startReach(fixture(), '5m');
      const patient = (set: ReplicaSet): void => {
        strategyOf(set).minSuccessTime = '10m';
      };
      await app.release('v3', patient);
      await app.until('v3 succeeds', canary, (work) => app.releaseOf(work) === 'v3' && isSucceeded(work));
      await renewLease(hub, canary);
      await goAway(canary);
      await isLabelled(canary, 'suspect');
      // As the guide says.
      await kubectl(hub.kubeconfig, ['label', '--overwrite', 'managedcluster', canary, 'edgeset.io/reach=held']);
      const touch = JSON.stringify({ spec: { deleteOption: { propagationPolicy: 'Foreground' } } });
      await kubectl(hub.kubeconfig, ['-n', canary, 'patch', 'manifestwork', app.name, '--type=merge', '-p', touch]);
      await app.until('it waits for a report', canary, (work) => statusOf(work, 'Progressing') === undefined);
      await app.release('v3');
      await engineWorks(first, second);
      assert.deepEqual([await app.wanted(first), await app.wanted(second)], ['v2', 'v2']);
      assert.equal(await reachOf(hub, canary), 'held');
      await kubectl(hub.kubeconfig, ['label', 'managedcluster', canary, 'edgeset.io/reach-']);
      await connect(canary);
      await isLabelled(canary, 'online');
      await app.runs('v3', ...shops);
      await app.remove();
    } finally {
      await reach.stop();
    }
  });
};
