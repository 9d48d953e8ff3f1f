import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeCluster } from './testing/fake-cluster.ts';

const ota = { 'apps.openyurt.io/update-strategy': 'ota' };
const known = { observedGeneration: 2, target: { revision: 'web-new', hash: 'new', number: 2 }, rollout: 1 };

describe('where owners decide', () => {
  const world = createFakeCluster();
  const told = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await world.run(args);
    assert.deepEqual([code, stderr], [0, '']);
    return stdout;
  };
  const fleet = (annotations: Record<string, string> = {}): void => {
    world.daemonSet({ ...ota, ...annotations });
    world.fleet('n1', 'n2', 'n3');
    world.pod('n1', 'new');
    world.rollout(known);
  };

  it('plan names them, and what pods are still to be told', async () => {
    fleet();
    const text = await told('plan', 'web');
    assert.match(text, /^No budget: owners decide\.$/m);
    assert.match(
      text,
      /^The owner of each device decides when its pod is replaced\. Condition PodNeedUpgrade of the pods/m,
    );
    assert.match(text, /^Would now:\n {2}bring condition PodNeedUpgrade of 3 pods up to date$/m);
    assert.match(text, /^Owners asked \(2\): n2, n3\.$/m);
    assert.doesNotMatch(text, /replace the pod|slot/);
  });

  it('explain tells of each node who is asked, or why nobody is', async () => {
    fleet({ 'edgeset.io/ota-deadline': '2040-01-01T00:00:00Z', 'edgeset.io/ota-deadline-spread': '90m' });
    assert.match(await told('explain', 'web'), /^2 of their owners are asked\.$/m);
    assert.match(
      await told('explain', 'web', '--node', 'n2'),
      /runs an older revision, and the condition of its pod is not up to date yet\. The owner of each device decides .* until 2040-01-01T00:00:00\.000Z: within 90 min/,
    );
    fleet({ 'edgeset.io/paused': 'true' });
    assert.match(await told('explain', 'web', '--node', 'n2'), /The rollout is paused/);
    fleet({ 'edgeset.io/partition': '2' });
    assert.match(await told('explain', 'web', '--node', 'n2'), /kept on the older revision by edgeset\.io\/partition/);
    fleet();
    world.node('n3', false);
    assert.match(
      await told('explain', 'web', '--node', 'n3'),
      /whatever its owner decides there in the meantime takes effect/,
    );
  });

  it('status shows no budget', async () => {
    world.rollout({
      ...known,
      strategy: 'ota',
      summary: 'Waiting for 2 owners',
      budget: { maxUnavailable: '10%', nodes: 0, inUse: 0, inFlight: 0 },
    });
    assert.match(await told('status', 'web'), /^web +Waiting for 2 owners +new .* - *$/m);
  });
});
