import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createVirtualClock, silentLogger, sleep } from '../../runtime/index.ts';
import type { Agent } from '../agent.ts';
import { openDecisionsInMemory } from '../testing/decisions-in-memory.ts';
import { app, openWithUpdate, stateOf } from '../testing/scenario.ts';
import { authorized, type Fault, owner, type Testbed } from '../testing/testbed.ts';
import { createTroubles } from '../troubles.ts';
import type { TrackedUpdate } from '../updates/index.ts';
import { createMutex } from './concurrency.ts';
import { createReconciler } from './reconciler.ts';

/** Simulates a power cut, and starts the next process with the state on disk. */
const reboot = (testbed: Testbed): Promise<Agent> => testbed.start({ killed: true }).then(({ agent }) => agent);

const approve = async (agent: Agent): Promise<void> => {
  const revision = agent.updates()[0]?.target.revision ?? '';
  const answer = await agent.decide(app, revision, { choice: 'approve', when: { type: 'now' } }, owner, authorized);
  assert.equal(answer.kind, 'accepted');
};

describe('an agent that is killed', () => {
  const begun = async (t: TestContext): Promise<{ testbed: Testbed; agent: Agent }> => {
    const { testbed, agent } = await openWithUpdate(t);
    // Changes are on disk after two seconds.
    await testbed.advance(2_000);
    await testbed.written();
    return { testbed, agent };
  };

  it('shows pods, images of both versions, the decision and the history offline', async (t) => {
    const { testbed, agent } = await begun(t);
    const before = agent.updates();
    testbed.cut(true);
    await testbed.advance(1_000);
    await approve(agent);
    await testbed.advance(3_600_000);
    const next = await reboot(testbed);
    const [update] = next.updates();
    assert.equal(stateOf(next), 'queued Disconnected');
    assert.deepEqual(update?.running, before[0]?.running);
    assert.deepEqual(update?.target, before[0]?.target);
    assert.equal(update?.decision?.state, 'open');
    assert.equal(next.pods().items.length, 1);
    assert.ok(next.pods().ageSeconds >= 3_600);
    assert.equal(next.device().connected, false);
    assert.deepEqual(
      next.history().map(({ what }) => what),
      ['Approved'],
    );
    await testbed.advance(600_000);
    assert.equal(testbed.deletes(), 0);
    testbed.cut(false);
    await testbed.until('it is carried out', () => next.updates()[0]?.state === 'current', 120_000);
    assert.equal(testbed.deletes(), 1);
  });

  const steps: [string, Fault, number][] = [
    ['before the delete is sent', { verb: 'get', plural: 'pods', kind: 'hang' }, 1],
    [
      'after the delete was carried out and before its answer',
      { verb: 'delete', plural: 'pods', kind: 'hang', happened: true },
      1,
    ],
    ['after a delete that never arrived', { verb: 'delete', plural: 'pods', kind: 'hang', happened: false }, 2],
    ['while it finds out what became of a delete', { verb: 'patch', plural: 'pods', kind: 'hang', happened: true }, 2],
  ];
  for (const [when, fault, deletes] of steps)
    for (const offline of [false, true])
      it(`continues ${when}${offline ? ', offline' : ''}: nothing is repeated or lost`, async (t) => {
        const { testbed, agent } = await begun(t);
        if (fault.verb === 'patch')
          testbed.faults.push({ verb: 'delete', plural: 'pods', kind: 'lose', happened: false });
        testbed.faults.push({ ...fault });
        await approve(agent);
        await testbed.advance(500);
        assert.ok(testbed.faults.every(({ fired }) => fired));
        if (offline) testbed.cut(true);
        const next = await reboot(testbed);
        if (offline) {
          await testbed.advance(60_000);
          assert.ok(['updating', 'queued'].includes(next.updates()[0]?.state ?? ''), stateOf(next));
          testbed.cut(false);
        }
        await testbed.until('it is done', () => next.updates()[0]?.state === 'current', 300_000);
        await testbed.advance(300_000);
        assert.equal(testbed.deletes(), deletes);
        assert.equal(testbed.pod().spec?.containers[0]?.image, 'app:v2');
        const told = next.history().map(({ what }) => what);
        assert.equal(told.filter((what) => what === 'Deleted').length, 1, told.join());
        assert.deepEqual(next.updates()[0]?.decision, null);
      });

  it('does not carry out a YurtHub request without queue later', async (t) => {
    const { testbed, agent } = await begun(t);
    testbed.faults.push({ verb: 'delete', plural: 'pods', kind: 'hang', happened: false });
    agent.upgrade(testbed.ref(), owner, { queue: false, reauthorize: authorized }).catch(() => undefined);
    await testbed.advance(500);
    const next = await reboot(testbed);
    await testbed.until('it is settled', () => next.history()[0]?.what === 'Refused', 120_000);
    await testbed.advance(600_000);
    assert.equal(testbed.deletes(), 1);
    assert.equal(next.updates()[0]?.state, 'available');
  });

  it('still follows the new pod after the update was sent', async (t) => {
    const { testbed, agent } = await begun(t);
    await approve(agent);
    await testbed.until('sent', () => testbed.deletes() === 1);
    await testbed.advance(2_000);
    await testbed.written();
    const next = await reboot(testbed);
    await testbed.until('it is ready', () => next.updates()[0]?.state === 'current');
    await testbed.advance(1_000);
    assert.equal(next.history()[0]?.what, 'Updated');
  });
});

describe('the reconciler', () => {
  const trackedOf = (daemonSet: string): TrackedUpdate => ({
    record: {
      namespace: 'default',
      daemonSet,
      apiVersion: 'apps/v1',
      uid: daemonSet,
      running: { revision: 'r1', images: [] },
      announced: { revision: 'r2', need: 'yes', reason: 'NewRevision' },
      announcedBy: daemonSet,
      details: null,
      terms: null,
      updateInProgress: null,
    },
    pod: { metadata: { namespace: 'default', name: `${daemonSet}-pod`, uid: daemonSet, resourceVersion: '1' } },
  });

  it('acts at once on a change that comes while it fails with another update, and retries that one after 10 s', async (t) => {
    const clock = createVirtualClock(1_800_000_000_000.25);
    const env = { clock, random: () => 0.5, log: silentLogger };
    const decisions = await openDecisionsInMemory(env);
    const all = ['due-later', 'failing'].map(trackedOf);
    const tried: [string, number][] = [];
    let isDue = false;
    let trigger = (): void => undefined;
    const troubles = createTroubles(silentLogger);
    const reconciler = createReconciler({
      env,
      cache: { connected: () => true, onChange: () => () => undefined },
      tracker: {
        all: () => all,
        get: ({ daemonSet }) => all.find(({ record }) => record.daemonSet === daemonSet),
        setUpdateInProgress: () => undefined,
        onChange(listener) {
          trigger = listener;
          return () => undefined;
        },
        run: () => Promise.resolve(),
      },
      decisions,
      executor: {
        async execute({ pod }, signal) {
          tried.push([pod.name, clock.now()]);
          if (pod.name === 'failing-pod') {
            await sleep(clock, 2_000, signal);
            throw new Error('nobody expected this');
          }
          isDue = false;
          return { kind: 'refused', refusal: { code: 'Busy', status: 503, text: '' } };
        },
        resolveLostWrite: () => Promise.resolve(true),
      },
      liveReads: { pod: () => Promise.reject(new Error('not asked')) },
      mutex: createMutex(clock),
      events: { record: () => undefined, stop: () => undefined },
      steps: {
        next: ({ record }) =>
          record.daemonSet === 'failing' || isDue ? { kind: 'act', why: 'owner' } : { kind: 'ask' },
        deadlineOf: () => undefined,
        tonightOf: () => null,
        isDue: () => false,
      },
      troubles,
      refreshImages: () => undefined,
      changed: () => undefined,
    });
    const end = new AbortController();
    const running = reconciler.run(end.signal);
    t.after(async () => {
      end.abort();
      await running;
    });
    await clock.advance(1_000);
    isDue = true;
    trigger();
    await clock.advance(1_500);
    const [first, second] = tried;
    assert.equal(first?.[0], 'failing-pod');
    assert.equal(second?.[0], 'due-later-pod');
    assert.equal((second?.[1] ?? 0) - (first?.[1] ?? 0), 2_000);
    assert.match(reconciler.problemOf(all[1] as TrackedUpdate) ?? '', /nobody expected this/);
    assert.equal(reconciler.problemOf(all[0] as TrackedUpdate), undefined);
    // Triggers do not make it try again: else it would do nothing else.
    for (let times = 0; times < 50; times += 1) {
      trigger();
      await clock.advance(100);
    }
    assert.equal(tried.filter(([pod]) => pod === 'failing-pod').length, 1);
    await clock.advance(6_000);
    assert.equal(tried.filter(([pod]) => pod === 'failing-pod').length, 2);
    assert.deepEqual(
      troubles.all().map(({ part, of }) => `${part} ${of}`),
      ['step default/failing'],
    );
  });
});

describe('an agent at rest', () => {
  it('sends no requests and writes nothing while an update waits for its owner', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    await testbed.advance(5_000);
    await testbed.written();
    const calls = testbed.calls.length;
    const before = await testbed.modified();
    let changes = 0;
    agent.onChange(() => (changes += 1));
    await testbed.advance(4 * 3_600_000);
    assert.equal(testbed.calls.length, calls);
    assert.deepEqual(await testbed.modified(), before);
    assert.ok(changes <= 100, `told of ${changes} changes`);
    assert.equal(agent.updates()[0]?.state, 'available');
    assert.equal(agent.device().connected, true);
  });
});
