import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeError, nodes, pods } from '../../kube/index.ts';
import { imageReadyOf } from '../../rollout/index.ts';
import {
  app,
  approveNow,
  decide,
  historyOf,
  openTestbed,
  openWithUpdate,
  startWithUpdate,
  stateOf,
  targetOf,
} from '../testing/scenario.ts';
import { authorized, owner, type Testbed } from '../testing/testbed.ts';
import type { DecideResult } from '../types.ts';

const runs = (testbed: Testbed): string => testbed.pod().spec?.containers[0]?.image ?? '';

describe("an owner's decision", () => {
  it('is carried out once, followed until the new pod is ready, and recorded on the DaemonSet', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    const answer = await decide(agent, approveNow);
    assert.equal(answer.kind, 'accepted');
    assert.equal(answer.status, 202);
    const seen = new Set<string>();
    await testbed.until('the new version runs', () => {
      seen.add(stateOf(agent));
      return agent.updates()[0]?.state === 'current';
    });
    assert.deepEqual([...seen], ['queued Due', 'updating Stopping', 'updating Starting', 'current UpToDate']);
    assert.equal(testbed.deletes(), 1);
    assert.deepEqual(historyOf(agent), ['Updated', 'Deleted', 'Deleting', 'Approved']);
    const ready = testbed.pod().status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? '';
    const [updated, deleted] = agent.history();
    assert.ok(updated?.tookSeconds !== undefined && updated.tookSeconds > 0);
    assert.ok(Math.abs(Date.parse(ready) - Date.parse(deleted?.at ?? '') - 1_000 * updated.tookSeconds) <= 1_500);
    assert.deepEqual(
      testbed.events.map(({ reason, regarding }) => [reason, regarding.kind, regarding.name]),
      [
        ['OwnerDecided', 'DaemonSet', 'app'],
        ['UpdateCarriedOut', 'DaemonSet', 'app'],
      ],
    );
    await testbed.advance(3_600_000);
    assert.equal(testbed.deletes(), 1);
  });

  it('shows the images of both versions, the time of publication, and the deadline', async (t) => {
    const { testbed, agent } = await openWithUpdate(t, { 'edgeset.io/ota-deadline': '2026-12-24T12:00:00Z' });
    await testbed.advance(100);
    const [update] = agent.updates();
    assert.deepEqual(update?.running.images, [{ container: 'app', image: 'app:v1' }]);
    assert.deepEqual(update?.target.images, [{ container: 'app', image: 'app:v2' }]);
    assert.equal(update?.target.publishedAt?.slice(0, 10), '2026-11-21');
    assert.equal(update?.deadline?.at, '2026-12-24T12:00:00Z');
    assert.ok((update?.deadline?.actsAt ?? '') < '2026-12-24T13:00:00Z');
    testbed.patchDaemonSet({ metadata: { annotations: { 'edgeset.io/ota-deadline': null } } });
    await testbed.advance(100);
    assert.equal(agent.updates()[0]?.deadline, null);
  });

  it('shows the sizes of what is on the node: of the new version once it is downloaded', async (t) => {
    const testbed = await openTestbed(t);
    testbed.device.readNode = true;
    const agent = await startWithUpdate(testbed);
    const images = [
      { names: ['docker.io/library/app:v1'], sizeBytes: 48_000_000 },
      { names: ['docker.io/library/app:v2'], sizeBytes: 52_000_000 },
    ];
    const options = { type: 'merge' as const, subresource: 'status' };
    testbed.apiServer.patch(nodes, { name: 'node-1' }, { status: { images } }, options);
    await testbed.advance(60_000);
    assert.deepEqual(agent.updates()[0]?.size, { running: 48_000_000, target: null });
    const condition = { type: 'PodImageReady', status: 'True', reason: 'PullImageSuccess' };
    const body = { status: { conditions: [{ ...condition, message: `controllerrevision: ${targetOf(agent)}` }] } };
    testbed.apiServer.patch(pods, testbed.ref(), body, { type: 'strategic', subresource: 'status' });
    await testbed.advance(1_000);
    assert.deepEqual(agent.updates()[0]?.size, { running: 48_000_000, target: 52_000_000 });
  });

  it('is refused if there is nothing to decide', async (t) => {
    const { agent } = await openWithUpdate(t);
    const refusals: [Promise<DecideResult>, number, string][] = [
      [agent.decide({ ...app, daemonSet: 'other' }, 'x', approveNow, owner, authorized), 404, 'NoSuchDaemonSet'],
      [decide(agent, approveNow, 'older'), 409, 'OtherRevision'],
      [decide(agent, { choice: 'approve', when: { type: 'safe' } }, 'older'), 422, 'BadDecision'],
      [agent.decide(app, targetOf(agent), approveNow, owner, () => Promise.resolve('gone')), 403, 'CallerGone'],
    ];
    for (const [answer, status, reason] of refusals)
      assert.partialDeepStrictEqual(await answer, { kind: 'refused', status, reason });
    assert.deepEqual(historyOf(agent), []);
  });

  it('waits while the device is not safe, checks with back-off, and continues when it is safe', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    Object.assign(testbed.device, { configured: true, safe: false, message: 'the car is moving' });
    await decide(agent, approveNow);
    await testbed.advance(3_600_000);
    assert.equal(stateOf(agent), 'queued NotSafe');
    assert.match(agent.updates()[0]?.message ?? '', /the car is moving/);
    assert.ok(
      testbed.device.asked >= 12 && testbed.device.asked < 40,
      `asked ${testbed.device.asked} times in an hour`,
    );
    assert.equal(testbed.deletes(), 0);
    testbed.device.safe = true;
    await testbed.until('it is carried out', () => agent.updates()[0]?.state === 'current', 360_000);
    assert.equal(testbed.deletes(), 1);
  });

  it('is superseded by a newer target, and not applied to it', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    const before = targetOf(agent);
    await decide(agent, { choice: 'approve', when: { type: 'window', from: '22:00', to: '05:00' } });
    testbed.cut(true);
    await testbed.advance(1_000);
    testbed.setImage('app:v3');
    await testbed.advance(12 * 3_600_000);
    assert.equal(targetOf(agent), before, 'what is not known is not told');
    testbed.cut(false);
    await testbed.until('the newer one is offered', () => targetOf(agent) !== before, 120_000);
    await testbed.advance(60_000);
    assert.equal(agent.updates()[0]?.state, 'available');
    assert.equal(testbed.deletes(), 0);
    assert.ok(historyOf(agent).includes('Superseded'));
    assert.ok(testbed.events.some(({ reason }) => reason === 'DecisionSuperseded'));
  });

  it('is not superseded because of a stale cache: a live read of the pod decides', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    await decide(agent, { choice: 'approve', when: { type: 'window', from: '22:00', to: '05:00' } });
    const revision = targetOf(agent);
    const again = {
      type: 'PodNeedUpgrade',
      status: 'True',
      reason: 'NewRevision',
      message: `controllerrevision: ${revision}`,
    };
    // Reverted while the agent still processes the newer one.
    const first = (): void => {
      testbed.setImage('app:v2');
      const options = { type: 'strategic' as const, subresource: 'status' };
      testbed.apiServer.patch(pods, testbed.ref(), { status: { conditions: [again] } }, options);
    };
    testbed.faults.push({ verb: 'get', plural: 'pods', kind: 'first', first });
    testbed.setImage('app:v3');
    await testbed.advance(60_000);
    assert.equal(stateOf(agent), 'queued OutsideWindow');
    assert.equal(targetOf(agent), revision);
    assert.deepEqual(historyOf(agent), ['Approved']);
    const reads = testbed.calls.filter(({ verb, plural }) => verb === 'get' && plural === 'pods').length;
    assert.ok(reads <= 2, `${reads} reads of the pod`);
    await testbed.advance(10 * 3_600_000);
    assert.equal(testbed.deletes(), 1);
  });

  it('is not superseded because the state on disk is older than the decision', async (t) => {
    const testbed = await openTestbed(t);
    const before = await startWithUpdate(testbed);
    const old = targetOf(before);
    await testbed.advance(5_000);
    await testbed.written();
    testbed.setImage('app:v3');
    await testbed.until('the newer one is there', () => targetOf(before) !== old);
    const revision = targetOf(before);
    await decide(before, { choice: 'approve', when: { type: 'window', from: '22:00', to: '05:00' } });
    testbed.cut(true);
    const { agent } = await testbed.start({ killed: true });
    await testbed.advance(60_000);
    assert.equal(targetOf(agent), old, 'the disk was not written in time');
    testbed.cut(false);
    await testbed.until('it is known', () => targetOf(agent) === revision, 120_000);
    await testbed.advance(60_000);
    assert.equal(stateOf(agent), 'queued OutsideWindow');
    assert.ok(!historyOf(agent).includes('Superseded'));
  });

  it('is not applied to a target that changed after the cache was updated', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    const newer = {
      type: 'PodNeedUpgrade',
      status: 'True',
      reason: 'NewRevision',
      message: 'controllerrevision: newer',
    };
    testbed.faults.push({
      verb: 'get',
      plural: 'pods',
      kind: 'first',
      first: () => {
        const options = { type: 'strategic' as const, subresource: 'status' };
        testbed.apiServer.patch(pods, testbed.ref(), { status: { conditions: [newer] } }, options);
      },
    });
    await decide(agent, approveNow);
    await testbed.advance(10);
    assert.equal(testbed.deletes(), 0);
    await testbed.advance(1_000);
    assert.ok(historyOf(agent).includes('Superseded'), historyOf(agent).join());
  });

  it('waits while the rollout is halted', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    await decide(agent, { choice: 'approve', when: { type: 'window', from: '22:00', to: '05:00' } });
    testbed.halt(true);
    await testbed.advance(11 * 3_600_000);
    assert.equal(stateOf(agent), 'halted Halted');
    assert.equal(testbed.deletes(), 0);
    assert.partialDeepStrictEqual(await decide(agent, approveNow), { status: 403, reason: 'Halted' });
    testbed.halt(false);
    await testbed.until('it continues', () => agent.updates()[0]?.state === 'current');
  });

  it('is shown as failed if the new pod does not work, until there is a newer version', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    testbed.setImage('app:v3--crash-loop');
    await testbed.advance(1_000);
    await decide(agent, approveNow);
    await testbed.until('it fails', () => agent.updates()[0]?.state === 'failed', 120_000);
    assert.equal(agent.updates()[0]?.reason, 'CrashLoop');
    await testbed.advance(600_000);
    assert.equal(historyOf(agent).filter((what) => what === 'Failed').length, 1);
    testbed.setImage('app:v4');
    await testbed.until('a better one is offered', () => agent.updates()[0]?.state === 'available');
    await decide(agent, approveNow);
    await testbed.until('it works', () => agent.updates()[0]?.state === 'current');
    assert.equal(testbed.deletes(), 2);
  });

  it('is retried with back-off after refusals, with one Event', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    for (let count = 0; count < 5; count += 1) testbed.faults.push({ verb: 'delete', plural: 'pods', kind: 'refuse' });
    await decide(agent, approveNow);
    await testbed.until('it is carried out', () => agent.updates()[0]?.state === 'current', 120_000);
    assert.equal(testbed.deletes(), 6);
    assert.equal(testbed.events.filter(({ reason }) => reason === 'UpdateRefused').length, 1);
  });

  it('requests the images of the new revision if the condition is for an older one', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    const revision = targetOf(agent);
    const report = (status: string, reason: string, of: string): void => {
      const condition = { type: 'PodImageReady', status, reason, message: `controllerrevision: ${of}` };
      const options = { type: 'strategic' as const, subresource: 'status' };
      testbed.apiServer.patch(pods, testbed.ref(), { status: { conditions: [condition] } }, options);
    };
    report('True', 'PullImageSuccess', 'older');
    await testbed.advance(100);
    // Nothing but the time that passes tells the agent to try again.
    for (let count = 0; count < 3; count += 1) testbed.faults.push({ verb: 'patch', plural: 'pods', kind: 'refuse' });
    await decide(agent, approveNow);
    await testbed.advance(30_000);
    assert.equal(testbed.calls.filter(({ verb }) => verb === 'patch').length, 4);
    assert.equal(stateOf(agent), 'queued ImageNotReady');
    const { revision: requested, reason } = imageReadyOf(testbed.pod()) ?? {};
    assert.deepEqual([requested, reason], [revision, 'PullingImage']);
    assert.equal(agent.updates()[0]?.image.state, 'pulling');
    testbed.cut(true);
    await testbed.advance(60_000);
    assert.equal(agent.updates()[0]?.state, 'queued');
    testbed.cut(false);
    report('True', 'PullImageSuccess', revision);
    await testbed.until('it is carried out', () => agent.updates()[0]?.state === 'current', 120_000);
    assert.equal(testbed.deletes(), 1);
  });
});

describe("an owner's decision on a failing link", () => {
  it('is kept while offline, with its Events', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    testbed.cut(true);
    await testbed.advance(1_000);
    await decide(agent, approveNow);
    await testbed.advance(3_600_000);
    assert.equal(stateOf(agent), 'queued Disconnected');
    assert.deepEqual(testbed.events, []);
    testbed.cut(false);
    await testbed.until('it is carried out', () => agent.updates()[0]?.state === 'current', 120_000);
    assert.equal(testbed.deletes(), 1);
    assert.deepEqual(
      testbed.events.map(({ reason }) => reason),
      ['OwnerDecided', 'UpdateCarriedOut'],
    );
  });

  for (const happened of [true, false])
    it(`is carried out once if the response to the delete is lost (${happened ? 'carried out' : 'not carried out'})`, async (t) => {
      const { testbed, agent } = await openWithUpdate(t);
      testbed.faults.push({ verb: 'delete', plural: 'pods', kind: 'hang', happened });
      await decide(agent, approveNow);
      await testbed.advance(5_000);
      testbed.cut(true);
      await testbed.advance(60_000);
      assert.equal(agent.updates()[0]?.state, 'updating');
      assert.equal(testbed.deletes(), 1);
      testbed.cut(false);
      await testbed.until('it is done', () => agent.updates()[0]?.state === 'current', 120_000);
      await testbed.advance(600_000);
      assert.equal(
        testbed.deletes(),
        happened ? 1 : 2,
        'a second delete only once the first was certainly not carried out',
      );
      assert.equal(runs(testbed), 'app:v2');
      assert.equal(historyOf(agent).filter((what) => what === 'Deleted').length, 1);
    });

  it('is not sent twice while the outcome is unknown', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    const forbidden = new KubeError('Forbidden', 'no status for you', { status: 403 });
    testbed.faults.push({ verb: 'delete', plural: 'pods', kind: 'lose', happened: false });
    for (let count = 0; count < 40; count += 1)
      testbed.faults.push({ verb: 'patch', plural: 'pods', kind: 'refuse', error: forbidden });
    await decide(agent, approveNow);
    await testbed.advance(100_000);
    assert.equal(testbed.deletes(), 1);
    for (const fault of testbed.faults) fault.fired = true;
    await testbed.until('it is done', () => agent.updates()[0]?.state === 'current', 600_000);
    assert.equal(testbed.deletes(), 2);
  });
});
