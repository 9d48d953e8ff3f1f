import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { DaemonRollout } from '../../../src/words/index.ts';
import type { AuditRecord } from '../../judge/audit/audit-record.ts';
import { type Case, section } from '../kit/index.ts';

const slow = { 'sim.edgeset.io/start-ms': '1500' };

const statusWrites = async (c: Case): Promise<{ record: AuditRecord; rollout: DaemonRollout }[]> =>
  (await c.calls())
    .filter(({ resource, code }) => resource === 'daemonrollouts/status' && code < 300)
    .map((record) => ({ record, rollout: record.response as DaemonRollout }));

export const status = section('Status', (rule) => {
  rule("the DaemonRollout has the DaemonSet's name, is owned by it, and is deleted with it", async (c) => {
    await c.rolledOut();
    const { metadata } = await c.daemonSet();
    const owners = (await c.rollout())?.metadata.ownerReferences ?? [];
    assert.deepEqual(
      owners.map(({ kind, name, uid, controller }) => ({ kind, name, uid, controller })),
      [{ kind: 'DaemonSet', name: 'app', uid: metadata?.uid, controller: true }],
    );
    await c.kubectl(['delete', 'daemonset', 'app', '--wait=false']);
    await c.until('it is collected', async () => (await c.rollout()) === undefined);
  });

  rule('a DaemonSet that is deleted with orphaned pods and recreated continues with them', async (c) => {
    const shape = { annotations: { 'apps.openyurt.io/max-unavailable': '100%' } };
    await c.rolledOut(shape);
    const before = (await c.pods()).map(({ uid }) => uid).toSorted();
    await c.kubectl(['delete', 'daemonset', 'app', '--cascade=orphan']);
    const { metadata } = await c.create(shape);
    await c.until('it has its own rollout object', async () => {
      const [owner] = (await c.rollout())?.metadata.ownerReferences ?? [];
      return owner?.uid === metadata?.uid;
    });
    await c.untilCondition('Complete');
    assert.deepEqual((await c.pods()).map(({ uid }) => uid).toSorted(), before);
    await c.setImage('app:v2');
    await c.untilRunning('app:v2');
  });

  rule(
    'every eligible node is counted in one phase, and causes add up to phases',
    async (c) => {
      await c.rolledOut({ podAnnotations: slow });
      await c.cluster.offline(c.nodes.slice(3));
      await c.setImage('app:v2');
      await c.untilRunning('app:v2', c.nodes.slice(0, 3));
      const writes = await statusWrites(c);
      assert.ok(writes.length > 3);
      for (const { rollout } of writes) {
        const { eligible = 0, online: _, offlineOutdated: __, ...counts } = rollout.status?.nodes ?? {};
        const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
        assert.equal(sum(Object.values(counts)), eligible);
        const causes = rollout.status?.causes ?? [];
        for (const [phase, count] of Object.entries(counts))
          assert.equal(sum(causes.filter((one) => one.phase === phase).map((one) => one.count)), count);
      }
    },
    { nodes: 4 },
  );

  rule('conditions follow kstatus, with their observed generation', async (c) => {
    await c.rolledOut({ podAnnotations: slow });
    const read = async () => {
      const { conditions = [] } = await c.status();
      return Object.fromEntries(conditions.map(({ type, status: value }) => [type, value]));
    };
    const atRest = {
      Ready: 'True',
      Reconciling: 'False',
      Stalled: 'False',
      Complete: 'True',
      Paused: 'False',
      Halted: 'False',
      ImageDrift: 'False',
    };
    assert.deepEqual(await read(), { ...atRest, AllNodesUpdated: 'True' });
    await c.setImage('app:v2');
    await c.untilCondition('Reconciling');
    assert.deepEqual(await read(), {
      ...atRest,
      AllNodesUpdated: 'False',
      Ready: 'False',
      Reconciling: 'True',
      Complete: 'False',
    });
    await c.untilCondition('Complete');
    const [{ metadata }, rollout] = await Promise.all([c.daemonSet(), c.rollout()]);
    const { conditions = [], observedGeneration, daemonSetGeneration, policyHash } = rollout?.status ?? {};
    assert.equal(daemonSetGeneration, metadata?.generation);
    assert.deepEqual([metadata?.generation, observedGeneration], [2, rollout?.metadata.generation]);
    assert.match(policyHash ?? '', /^[0-9a-f]+$/);
    for (const one of conditions) {
      assert.equal(one.observedGeneration, rollout?.metadata.generation);
      assert.match(one.reason, /^[A-Z][A-Za-z]+$/);
    }
  });

  rule("the DaemonSet's own status has the conditions too, and loses them when it opts out", async (c) => {
    await c.rolledOut();
    const read = async () =>
      ((await c.daemonSet()).status?.conditions ?? []).map(({ type, status: is }) => `${type}=${is}`).toSorted();
    await c.until('it is Ready', async () => (await read()).includes('Ready=True'));
    await c.setImage('app:v2--crash-loop');
    await c.untilCondition('Stalled');
    const stalled = ['Paused=False', 'Ready=False', 'Reconciling=False', 'Stalled=True'];
    await c.until('it is Stalled', async () => isDeepStrictEqual(await read(), stalled));
    await c.annotate({ 'apps.openyurt.io/update-strategy': null });
    await c.until('they are gone', async () => (await read()).length === 0);
  });

  rule('the policy hash changes with the policy, and with nothing else', async (c) => {
    await c.rolledOut();
    const before = (await c.status()).policyHash;
    await c.annotate({ unrelated: 'yes' });
    await c.annotate({ 'edgeset.io/suspect-window-seconds': '77' });
    await c.until('the policy is seen', async () => (await c.status()).policyHash !== before);
    await c.annotate({ 'edgeset.io/suspect-window-seconds': null });
    await c.until('the former is seen', async () => (await c.status()).policyHash === before);
  });

  rule('never complete while an online node is not at the target', async (c) => {
    await c.rolledOut({ podAnnotations: slow });
    await c.bringTo('app:v2');
    const { target } = await c.status();
    const isComplete = ({ rollout }: { rollout: DaemonRollout }): boolean =>
      rollout.status?.target?.hash === target?.hash &&
      (rollout.status?.conditions?.some((one) => one.type === 'Complete' && one.status === 'True') ?? false);
    const claims = (await statusWrites(c)).filter(isComplete).map(({ record }) => record.receivedAt);
    const lastReady = (await c.cluster.audit.read())
      .filter(
        ({ namespace, resource, verb }) => namespace === c.namespace && resource === 'pods/status' && verb !== 'get',
      )
      .filter(({ response }) => {
        const pod = response as Pod;
        const ready = pod.status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True');
        return ready && pod.metadata?.labels?.['controller-revision-hash'] === target?.hash;
      })
      .map(({ receivedAt }) => receivedAt);
    assert.equal(lastReady.length >= 3, true);
    const allReady = Math.max(...lastReady);
    for (const at of claims) assert.ok(at > allReady, `claimed ${allReady - at} ms before it was so`);
    assert.ok(claims.length > 0);
  });

  rule('kubectl get dro shows the state of a rollout', async (c) => {
    await c.rolledOut();
    await c.cluster.offline(c.nodes.slice(2));
    await c.setImage('app:v2');
    await c.untilComplete('app:v2', c.nodes.slice(0, 2));
    const [head = '', row = ''] = (await c.kubectl(['get', 'dro'])).split('\n');
    for (const column of ['NAME', 'TARGET', 'DESIRED', 'UPDATED', 'UPDATING', 'OFFLINE', 'FAILED', 'STATUS', 'AGE'])
      assert.ok(head.includes(column), `${column} in ${head}`);
    assert.match(row, /^app\s/);
    assert.ok(row.includes('Complete (1 offline)'), row);
    assert.ok((await c.kubectl(['get', 'daemonrollouts.edgeset.io', 'app', '-o', 'name'])).includes('app'));
  });

  rule('kubectl wait --for=condition=Complete works', async (c) => {
    await c.startRollout('app:v2');
    await c.untilCondition('Complete', 'False');
    await c.kubectl(['wait', '--for=condition=Complete', 'dro/app', '--timeout=90s']);
    assert.deepEqual(await c.running('app:v2'), c.nodes);
  });

  rule('the status has start and finish times, and an estimate meanwhile', async (c) => {
    await c.startRollout('app:v2', { podAnnotations: slow });
    await c.until('an estimate', async () => (await c.status()).estimatedFinishAt);
    const { startedAt, finishedAt } = await c.status();
    assert.ok(startedAt !== undefined && finishedAt === undefined);
    await c.until('the finish', async () => (await c.status()).finishedAt);
    const done = await c.status();
    assert.ok(Date.parse(done.finishedAt ?? '') >= Date.parse(done.startedAt ?? ''));
    assert.equal(done.estimatedFinishAt, undefined);
  });

  rule(
    'written about once a second, except for reservations and the end of a burst',
    async (c) => {
      await c.rolledOut({ annotations: { 'apps.openyurt.io/max-unavailable': '2' } });
      await c.bringTo('app:v2');
      const writes = await statusWrites(c);
      const open = ({ rollout }: { rollout: DaemonRollout }): string =>
        JSON.stringify(rollout.status?.reservations?.filter((one) => !one.carriedOut) ?? []);
      const plain = writes.filter((write, index) => {
        const before = writes[index - 1];
        return open(write) === '[]' || (before !== undefined && open(before) === open(write));
      });
      const times = plain.map(({ record }) => record.receivedAt);
      const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000;
      assert.ok(times.length <= seconds + 4, `${times.length} that only inform in ${seconds} s`);
    },
    { nodes: 6 },
  );
});
