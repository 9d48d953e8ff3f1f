import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { type KubeClient, KubeError, type KubeObject, namespaces, nodes, pods } from '../kube/index.ts';
import { createSetup, inNamespace, type Stored } from './testing/setup.ts';

/** Creates what it is asked to; the answer to the first creation is lost. `count`: how many were made. */
const losingTheFirstAnswer = (
  api: Pick<KubeClient, 'create'>,
): { create: KubeClient['create']; count: () => number } => {
  let made = 0;
  return {
    async create(...args) {
      const answer = await api.create(...args);
      made += 1;
      if (made === 1) throw new KubeError('Transport', 'cut off', { happened: 'unknown' });
      return answer;
    },
    count: () => made,
  };
};

describe('the prefetch in a cluster', () => {
  it('pulls nothing, and reports that, if the running pod already has all images of the revision', async (t) => {
    const setup = await createSetup(t, 'app:v1');
    const manager = setup.start({ auto: true });
    setup.ask('n1');
    manager.report();
    await setup.run(1_000);
    assert.equal(setup.outcome('n1')?.status, 'True');
    assert.deepEqual(setup.pulls(), []);
  });

  it('reports the message of the kubelet, and retries until the owner withdraws the request', async (t) => {
    const setup = await createSetup(t, 'app:v2--not-pullable');
    const manager = setup.startRequested();
    await setup.run(3_000);
    const outcome = setup.outcome('n1');
    assert.equal(outcome?.reason, 'PullImageFail');
    assert.match(outcome.message, /^app:v2--not-pullable: .*not found/);
    assert.deepEqual(setup.pulls(), []);
    manager.report();
    await setup.run(10_000);
    const { resourceVersion } = setup.find('n1').metadata;
    await setup.run(2_000);
    assert.equal(setup.find('n1').metadata.resourceVersion, resourceVersion, 'the same failure is not written again');
    manager.report(false);
    await setup.run(600);
    assert.deepEqual(setup.pulls(), []);
  });

  it('cleans up after a manager once it knows that its requests no longer exist', async (t) => {
    const setup = await createSetup(t);
    const first = setup.startRequested();
    await setup.run(100);
    await first.end();
    let complete = false;
    setup.start({ complete: () => complete });
    await setup.run(3_000);
    assert.equal(setup.pulls().length, 1, 'it may be that the pods have not been read yet');
    complete = true;
    await setup.run(3_000);
    assert.deepEqual(setup.pulls(), []);
  });

  it('does not overwrite a request that came while the last one was answered', async (t) => {
    const setup = await createSetup(t);
    setup.startRequested();
    await setup.run(200);
    // The pod changes before the report.
    setup.setImage('app:v3');
    await setup.run(100);
    setup.announce('n1');
    setup.ask('n1');
    await setup.run(3_000);
    assert.deepEqual([setup.outcome('n1')?.reason, setup.outcome('n1')?.revision], ['PullingImage', setup.hash()]);
  });

  it('fills no disk that is short, says so once, and pulls when it has room', async (t) => {
    const setup = await createSetup(t);
    const pressure = (status: string): void =>
      void setup.apiServer.patch<Stored<object>>(
        nodes,
        { name: 'n1' },
        { status: { conditions: [{ type: 'DiskPressure', status, reason: 'Test', message: '' }] } },
        { type: 'strategic', subresource: 'status' },
      );
    pressure('True');
    const manager = setup.startRequested();
    await setup.run(3_000);
    assert.deepEqual(setup.pulls(), []);
    const { reason, message } = setup.outcome('n1') ?? {};
    assert.deepEqual(
      [reason, message],
      ['PullImageFail', 'the disk of the node is full: its condition DiskPressure is True'],
    );
    manager.report();
    const { resourceVersion } = setup.find('n1').metadata;
    await setup.run(11_000);
    assert.deepEqual(setup.pulls(), []);
    assert.equal(setup.find('n1').metadata.resourceVersion, resourceVersion);
    pressure('False');
    await setup.run(30_000);
    assert.equal(setup.outcome('n1')?.status, 'True');
  });

  it('pulls images again that the kubelet has deleted, says how often, and rests for a day after the second time', async (t) => {
    const setup = await createSetup(t);
    const manager = setup.start();
    setup.announce('n1');
    setup.askAgain('n1', 1, 0);
    manager.report();
    await setup.run(3_000);
    assert.deepEqual([setup.outcome('n1')?.status, setup.outcome('n1')?.deletions], ['True', 1]);
    manager.report();
    await setup.run(100);
    setup.askAgain('n1', 2, 86_400_000 - 60_000);
    manager.report();
    await setup.run(3_000);
    const { reason, message, deletions } = setup.outcome('n1') ?? {};
    assert.deepEqual([reason, deletions], ['PullImageFail', 2]);
    assert.match(message ?? '', /deleted the images 2 times before the update: they are pulled again after a day/);
    manager.report();
    await setup.run(40_000);
    assert.deepEqual([setup.pulls(), setup.outcome('n1')?.status], [[], 'False']);
    await setup.run(60_000);
    assert.deepEqual([setup.outcome('n1')?.status, setup.outcome('n1')?.deletions], ['True', 2]);
  });

  it('reports which refusal prevents a pull pod', async (t) => {
    const setup = await createSetup(t);
    const refusal = new KubeError('Forbidden', 'exceeded quota: pods=1', { status: 403 });
    setup.startRequested({ client: { create: () => Promise.reject(refusal) } });
    await setup.run(300);
    assert.match(setup.outcome('n1')?.message ?? '', /no pull pod can be created: exceeded quota/);
  });

  it('neither delays other pulls nor retries without end if a pull pod cannot be deleted', async (t) => {
    const setup = await createSetup(t);
    const refusal = new KubeError('Forbidden', 'denied by a webhook', { status: 403 });
    let stuck = '';
    let refused = 0;
    const remove: KubeClient['delete'] = (resource, ref, options) => {
      stuck ||= ref.name;
      if (ref.name !== stuck) return setup.api.delete(resource, ref, options);
      refused += 1;
      return Promise.reject(refusal);
    };
    const manager = setup.startRequested({ client: { delete: remove } });
    await setup.run(60_000);
    setup.announce('n2');
    setup.ask('n2');
    for (let time = 0; time < 60; time += 1) {
      // As events of the DaemonSet's pods do.
      manager.report();
      await setup.run(1_000);
    }
    assert.ok(refused >= 4 && refused <= 10, `${refused} deletes`);
    assert.equal(setup.outcome('n2')?.status, 'True');
    assert.equal(setup.pulls().length, 1);
  });

  it('deletes a pull pod again after a conflict', async (t) => {
    const setup = await createSetup(t);
    let asked = 0;
    const conflict = new KubeError('Conflict', 'changed meanwhile', { status: 409 });
    const remove: KubeClient['delete'] = (...args) =>
      (asked += 1) > 1 ? setup.api.delete(...args) : Promise.reject(conflict);
    setup.startRequested({ client: { delete: remove } });
    await setup.run(5_000);
    assert.deepEqual([asked, setup.outcome('n1')?.status, setup.pulls().length], [2, 'True', 0]);
  });

  it('deletes a pull pod once while its watch is behind the deletion', async (t) => {
    const setup = await createSetup(t);
    let asked = 0;
    const remove: KubeClient['delete'] = (...args) => {
      asked += 1;
      return setup.api.delete(...args);
    };
    const isGoing = ({ metadata }: KubeObject): boolean =>
      setup.pulls().every(({ metadata: { uid } }) => uid !== metadata?.uid);
    const watch: KubeClient['watch'] = async function* (...args) {
      for await (const event of setup.api.watch(...args))
        if (event.type === 'ADDED' || event.type === 'BOOKMARK' || !isGoing(event.object)) yield event;
    };
    const manager = setup.startRequested({ client: { delete: remove, watch } });
    await setup.run(5_000);
    manager.report();
    await setup.run(5_000);
    assert.deepEqual([asked, setup.outcome('n1')?.status, setup.pulls().length], [1, 'True', 0]);
  });

  it('finds out about a lost response from AlreadyExists', async (t) => {
    const setup = await createSetup(t);
    const { create, count } = losingTheFirstAnswer(setup.api);
    setup.startRequested({ client: { create } });
    await setup.run(3_000);
    assert.deepEqual([count(), setup.outcome('n1')?.status], [1, 'True']);
  });

  it('creates no second pull pod while its watch is behind the first', async (t) => {
    const setup = await createSetup(t);
    let reads = 0;
    // It doesn't forget the first when it cannot read whose pod has the name.
    const busy = new KubeError('ServiceUnavailable', 'try again', { status: 503 });
    const get: KubeClient['get'] = (...args) => ((reads += 1) > 1 ? setup.api.get(...args) : Promise.reject(busy));
    setup.startRequested({ client: { get, watch: setup.behind } });
    // Longer than it takes the pull pod for lost, and tries again.
    await setup.run(60_000);
    assert.deepEqual([reads, setup.pulls().length], [2, 1]);
  });

  it('creates no second pull pod while its watch is behind the one whose creation had no response', async (t) => {
    const setup = await createSetup(t);
    const { create } = losingTheFirstAnswer(setup.api);
    setup.startRequested({ client: { create, watch: setup.behind } });
    await setup.run(60_000);
    assert.equal(setup.pulls().length, 1);
  });

  it('creates no second pull pod while its watch is behind the one of an earlier leader', async (t) => {
    const setup = await createSetup(t);
    const first = setup.startRequested();
    await setup.run(100);
    await first.end();
    const second = setup.start({ client: { watch: setup.behind } });
    second.report();
    await setup.run(60_000);
    assert.equal(setup.pulls().length, 1);
  });

  it('pulls under another name where a pod that it does not see is of another user', async (t) => {
    const setup = await createSetup(t);
    const manager = setup.start({ client: { watch: setup.behind } });
    await setup.run(100);
    setup.announce('n1');
    setup.ask('n1');
    setup.forge('default', setup.find('n1').metadata.uid);
    manager.report();
    await setup.run(3_000);
    assert.equal(setup.pulls().length, 2);
  });

  it('pulls under another name where its pull pod, which it does not see, only terminates', async (t) => {
    const setup = await createSetup(t);
    setup.startRequested({ client: { watch: setup.behind } });
    await setup.run(100);
    const [pull] = setup.pulls();
    assert.ok(pull);
    const ref = { ...inNamespace, name: pull.metadata.name };
    const held = { metadata: { finalizers: ['example.org/stays'] } };
    setup.apiServer.patch<Stored<object>>(pods, ref, held, { type: 'merge' });
    setup.apiServer.delete(pods, ref);
    await setup.run(60_000);
    assert.equal(setup.pulls().length, 2);
  });

  it('believes no pod that another user created, and is not held back by one', async (t) => {
    const setup = await createSetup(t);
    // It would delete the pod elsewhere, whose owner doesn't exist there.
    setup.cluster.controllers.garbageCollector.pause();
    const created: string[] = [];
    const create: KubeClient['create'] = async (resource, object, options) => {
      const pod = await setup.api.create(resource, object, options);
      created.push(pod.metadata?.name ?? '');
      return pod;
    };
    const manager = setup.start({ parallelism: 1, client: { create } });
    await setup.run(100);
    setup.apiServer.create<object>(namespaces, { metadata: { name: 'elsewhere' } });
    setup.announce('n1');
    setup.ask('n1');
    // With the name and the owner that the pull pod will have, one of them elsewhere, and for other pods.
    const { uid } = setup.find('n1').metadata;
    setup.forge('elsewhere', uid);
    setup.forge('default', uid);
    for (let each = 0; each < 10; each += 1) setup.forge('default', `no-pod-${each}`);
    manager.report();
    await setup.run(300);
    assert.equal(setup.outcome('n1')?.reason, 'PullingImage', 'nothing has been pulled yet');
    await setup.run(6_000);
    assert.equal(setup.outcome('n1')?.status, 'True');
    assert.equal(created.length, 1);
    assert.match(created[0] ?? '', /^edgeset-pull-[0-9a-f]{20}-\w+$/);
    assert.ok(setup.pulls().every(({ metadata }) => !created.includes(metadata.name)));
    const elsewhere = setup.apiServer.list<Pod>(pods, { namespace: 'elsewhere' });
    assert.equal(elsewhere[0]?.metadata?.deletionTimestamp, undefined, 'it is not ours to delete');
  });

  it('opens no watch without requests', async (t) => {
    const setup = await createSetup(t);
    let watches = 0;
    const watch: KubeClient['watch'] = (resource, options) => {
      watches += 1;
      return setup.api.watch(resource, options);
    };
    const manager = setup.start({ client: { watch } });
    setup.announce('n1');
    manager.report();
    await setup.run(5_000);
    assert.equal(watches, 0);
    setup.ask('n1');
    manager.report();
    await setup.run(100);
    assert.equal(watches, 1);
  });
});
