import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import {
  controllerRevisions,
  customResourceDefinitions,
  defineResource,
  type KubeObject,
  pods,
} from '../../kube/index.ts';
import { openTestbed, responseOf } from '../testing/scenario.ts';
import { authorized, owner, type Testbed } from '../testing/testbed.ts';

const advanced = defineResource<KubeObject>({
  group: 'apps.kruise.io',
  version: 'v1alpha1',
  plural: 'daemonsets',
  kind: 'DaemonSet',
  namespaced: true,
});
const ref = { namespace: 'default', name: 'app-1' };
const status = { type: 'strategic' as const, subresource: 'status' };

const open = async (t: TestContext) => {
  const testbed = await openTestbed(t);
  const { apiServer } = testbed;
  apiServer.create<object>(customResourceDefinitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'daemonsets.apps.kruise.io' },
    spec: {
      group: 'apps.kruise.io',
      scope: 'Namespaced',
      names: { plural: 'daemonsets', singular: 'daemonset', kind: 'DaemonSet', listKind: 'DaemonSetList' },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  });
  apiServer.create<object>(advanced, {
    apiVersion: 'apps.kruise.io/v1alpha1',
    kind: 'DaemonSet',
    metadata: { name: 'app', namespace: 'default', annotations: { 'apps.openyurt.io/update-strategy': 'ota' } },
    spec: { updateStrategy: { type: 'RollingUpdate' } },
  });
  const uid = apiServer.get<KubeObject>(advanced, { namespace: 'default', name: 'app' }).metadata?.uid ?? '';
  const owners = [{ apiVersion: 'apps.kruise.io/v1alpha1', kind: 'DaemonSet', name: 'app', uid, controller: true }];
  apiServer.create<object>(controllerRevisions, {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name: 'app-two', namespace: 'default', ownerReferences: owners },
    revision: 2,
    data: { spec: { template: { spec: { containers: [{ name: 'app', image: 'app:v2' }] } } } },
  });
  const make = (hash: string, image: string): void => {
    apiServer.create<object>(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...ref, ownerReferences: owners, labels: { 'controller-revision-hash': hash } },
      spec: { nodeName: 'node-1', containers: [{ name: 'app', image }] },
    });
  };
  make('one', 'app:v1');
  const announce = (to: string, reason: string): void => {
    const condition = { type: 'PodNeedUpgrade', status: to, reason, message: 'controllerrevision: two' };
    apiServer.patch(pods, ref, { status: { conditions: [condition] } }, status);
  };
  announce('True', 'NewRevision');
  const { agent } = await testbed.start();
  await testbed.until('the update is there', () => agent.updates()[0]?.state === 'available');
  await testbed.advance(2_000);
  return { testbed, agent, announce };
};

/** A write to the pod's status by another client. */
const report = (testbed: Testbed, conditions: object[], more: object = {}): void => {
  testbed.apiServer.patch(pods, ref, { status: { conditions }, ...more }, status);
};

const approval = (testbed: Testbed) =>
  testbed.apiServer.get<Pod>(pods, ref).status?.conditions?.find(({ type }) => type === 'UpgradeApproved');

describe('the agent and an Advanced DaemonSet', () => {
  it('records the approval for the revision and deletes nothing', async (t) => {
    const { testbed, agent, announce } = await open(t);
    assert.deepEqual(agent.updates()[0]?.target.images, [{ container: 'app', image: 'app:v2' }]);
    const post = () => agent.upgrade(ref, owner, { queue: false, reauthorize: authorized });
    const { answer } = await responseOf(testbed, post());
    assert.deepEqual(answer, { status: 200, text: 'Start updating pod default/app-1' });
    assert.partialDeepStrictEqual(approval(testbed), {
      status: 'True',
      reason: 'OwnerApproved',
      message: 'controllerrevision: two',
    });
    assert.equal(agent.updates()[0]?.state, 'updating');
    const patches = (): number => testbed.calls.filter(({ verb }) => verb === 'patch').length;
    assert.equal(patches(), 1);
    assert.equal((await responseOf(testbed, post())).answer.status, 200);
    assert.equal(patches(), 1, 'what was approved is not approved again');
    await testbed.advance(3_600_000);
    assert.equal(agent.updates()[0]?.state, 'updating', 'the manager takes the time that it needs');
    const lastTransitionTime = new Date(testbed.clock.now()).toISOString();
    report(testbed, [{ type: 'Ready', status: 'True', lastTransitionTime }]);
    testbed.apiServer.patch(
      pods,
      ref,
      { metadata: { labels: { 'controller-revision-hash': 'two' } } },
      { type: 'merge' },
    );
    announce('False', 'UpToDate');
    await testbed.until('it runs', () => agent.updates()[0]?.state === 'current');
    assert.equal(testbed.deletes(), 0);
    await testbed.until('it is recorded', () => agent.history()[0]?.what === 'Updated');
    const timed = agent.history().filter(({ tookSeconds }) => tookSeconds !== undefined);
    assert.deepEqual(timed, [], 'when the manager began is not known');
  });

  for (const happened of [true, false])
    it(`approves once if the response is lost (${happened ? 'written' : 'not written'})`, async (t) => {
      const { testbed, agent } = await open(t);
      testbed.faults.push({ verb: 'patch', plural: 'pods', kind: 'lose', happened });
      const choice = { choice: 'approve', when: { type: 'now' } } as const;
      await agent.decide({ namespace: 'default', daemonSet: 'app' }, 'two', choice, owner, authorized);
      // Once by the owner, once as it was carried out.
      const approvals = () => agent.history().filter(({ what }) => what === 'Approved').length;
      await testbed.until('it is settled', () => approvals() === 2);
      assert.partialDeepStrictEqual(approval(testbed), { status: 'True', message: 'controllerrevision: two' });
      assert.equal(testbed.deletes(), 0);
    });

  it('does not approve what was lost once the deadline that it was due to has been removed', async (t) => {
    const { testbed, agent } = await open(t);
    const deadline = (value: string | null): void => {
      const annotations = { 'edgeset.io/ota-deadline': value, 'edgeset.io/ota-deadline-spread': '0s' };
      testbed.apiServer.patch(
        advanced,
        { namespace: 'default', name: 'app' },
        { metadata: { annotations } },
        { type: 'merge' },
      );
    };
    testbed.faults.push({ verb: 'patch', plural: 'pods', kind: 'hang', happened: false });
    deadline(new Date(testbed.clock.now() + 1_000).toISOString());
    await testbed.until('it is sent', () => testbed.calls.some(({ verb }) => verb === 'patch'));
    testbed.cut(true);
    await testbed.advance(60_000);
    deadline(null);
    testbed.cut(false);
    await testbed.until('its owner is asked again', () => agent.updates()[0]?.state === 'available', 120_000);
    await testbed.advance(600_000);
    assert.notEqual(approval(testbed)?.status, 'True');
    assert.equal(agent.updates()[0]?.state, 'available');
  });

  it('does not approve later what was asked for at once and lost', async (t) => {
    const { testbed, agent } = await open(t);
    testbed.faults.push({ verb: 'patch', plural: 'pods', kind: 'late' });
    const post = () => responseOf(testbed, agent.upgrade(ref, owner, { queue: false, reauthorize: authorized }));
    const { answer } = await post();
    assert.equal(answer.status, 502);
    assert.match(answer.text, /the request was lost/);
    await testbed.advance(600_000);
    assert.notEqual(approval(testbed)?.status, 'True', 'the API server refuses it whenever it arrives');
    assert.equal((await post()).answer.status, 200);
    assert.equal(approval(testbed)?.status, 'True');
  });

  it('keeps an approval that arrives while its outcome is determined', async (t) => {
    const { testbed, agent } = await open(t);
    const arrives = { type: 'UpgradeApproved', status: 'True', message: 'controllerrevision: two' };
    testbed.faults.push(
      { verb: 'patch', plural: 'pods', kind: 'lose', happened: false },
      { verb: 'patch', plural: 'pods', kind: 'first', first: () => report(testbed, [arrives]) },
    );
    const post = agent.upgrade(ref, owner, { queue: false, reauthorize: authorized });
    assert.equal((await responseOf(testbed, post)).answer.status, 200);
    assert.equal(approval(testbed)?.status, 'True');
    assert.equal(agent.updates()[0]?.state, 'updating');
  });

  it('shows what an approved update waits for', async (t) => {
    const { testbed, agent, announce } = await open(t);
    const now = () => {
      const { state, reason } = agent.updates()[0] ?? {};
      return `${state} ${reason}`;
    };
    await responseOf(testbed, agent.upgrade(ref, owner, { queue: false, reauthorize: authorized }));
    await testbed.until('it waits for its turn', () => now() === 'updating WaitingForManager');
    announce('False', 'Paused');
    await testbed.until('it is held back', () => now() === 'updating Paused');
    announce('True', 'Halted');
    await testbed.until('it is stopped', () => now() === 'halted Halted');
    announce('True', 'NewRevision');
    await testbed.until('it continues without asking again', () => now() === 'updating WaitingForManager');
    const preparing = { metadata: { labels: { 'lifecycle.apps.kruise.io/state': 'PreparingDelete' } } };
    testbed.apiServer.patch(pods, ref, preparing, { type: 'merge' });
    await testbed.until('it is prepared for its end', () => now() === 'updating Preparing');
  });

  it('asks the owner again after the manager removed the approval', async (t) => {
    const { testbed, agent } = await open(t);
    await responseOf(testbed, agent.upgrade(ref, owner, { queue: false, reauthorize: authorized }));
    report(testbed, [{ type: 'example.org/Other', status: 'True' }]);
    await testbed.advance(2_000);
    assert.equal(agent.updates()[0]?.state, 'updating', 'any other write changes nothing');
    report(testbed, [{ type: 'UpgradeApproved', $patch: 'delete' }]);
    await testbed.until('it is asked again', () => agent.updates()[0]?.state === 'available');
    await responseOf(testbed, agent.upgrade(ref, owner, { queue: false, reauthorize: authorized }));
    assert.partialDeepStrictEqual(approval(testbed), { status: 'True', message: 'controllerrevision: two' });
  });

  it('counts a removed approval as carried out if the pod runs the approved revision', async (t) => {
    const { testbed, agent } = await open(t);
    testbed.faults.push({ verb: 'patch', plural: 'pods', kind: 'hang', happened: true });
    const choice = { choice: 'approve', when: { type: 'now' } } as const;
    await agent.decide({ namespace: 'default', daemonSet: 'app' }, 'two', choice, owner, authorized);
    await testbed.until('it is sent', () => approval(testbed) !== undefined);
    report(testbed, [{ type: 'UpgradeApproved', $patch: 'delete' }]);
    const inPlace = { metadata: { labels: { 'controller-revision-hash': 'two' } } };
    testbed.apiServer.patch(pods, ref, inPlace, { type: 'merge' });
    const told = () => agent.history().map(({ result }) => result);
    await testbed.until('it is settled', () => told().some((text) => /^Approved two for pod app-1.*lost$/.test(text)));
    assert.equal(testbed.deletes(), 0);
  });

  it('does not ask for a DaemonSet that is not in OTA mode, even if its pods still have the condition', async (t) => {
    const { testbed, agent } = await open(t);
    const set = { namespace: 'default', name: 'app' };
    const strategy = (value: string | null): void => {
      const body = { metadata: { annotations: { 'apps.openyurt.io/update-strategy': value } } };
      testbed.apiServer.patch(advanced, set, body, { type: 'merge' });
    };
    strategy(null);
    await testbed.until('it is told so', () => agent.updates()[0]?.reason === 'NotOffered');
    assert.equal(agent.updates()[0]?.state, 'current');
    const choice = { choice: 'approve', when: { type: 'now' } } as const;
    const answer = await agent.decide({ namespace: 'default', daemonSet: 'app' }, 'two', choice, owner, authorized);
    assert.partialDeepStrictEqual(answer, { kind: 'refused', status: 409, reason: 'NotOffered' });
    strategy('ota');
    await testbed.until('it is asked again', () => agent.updates()[0]?.state === 'available');
  });
});
