import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { eventually } from '../../test/support/index.ts';
import { type KubeObject, pods } from '../kube/index.ts';
import type { Agent } from './agent.ts';
import { openTestbed, responseOf } from './testing/scenario.ts';
import { authorized, owner, type Testbed } from './testing/testbed.ts';
import type { Choice, Decision, Update } from './types.ts';

type Name = 'app' | 'other';

const now: Choice = { choice: 'approve', when: { type: 'now' } };
const SAID = 'nobody expected this';

const shown = (agent: Agent, name: Name): Update => {
  const found = agent.updates().find(({ daemonSet }) => daemonSet === name);
  assert.ok(found, `${name} is not shown`);
  return found;
};
const podOf = (testbed: Testbed, name: Name): Pod | undefined =>
  testbed.pods().find(({ metadata }) => metadata?.name?.startsWith(`${name}-`));
const deletesOf = (testbed: Testbed, name: Name): number =>
  testbed.calls.filter((call) => call.verb === 'delete' && call.name.startsWith(`${name}-`)).length;
const image = (testbed: Testbed, name: Name): string | undefined => podOf(testbed, name)?.spec?.containers[0]?.image;
const choose = async (agent: Agent, name: Name, choice: Choice = now): Promise<Decision> => {
  const { revision } = shown(agent, name).target;
  const ref = { namespace: 'default', daemonSet: name };
  const result = await agent.decide(ref, revision ?? '', choice, owner, authorized);
  assert.equal(result.kind, 'accepted', JSON.stringify(result));
  return (result as { decision: Decision }).decision;
};
const untilUpdated = (testbed: Testbed, name: Name, limitMs = 60_000): Promise<void> =>
  testbed.until(`${name} is updated`, () => image(testbed, name) === 'app:v2', limitMs);
const counts = (agent: Agent): string[] => agent.troubles.all().map(({ part, of }) => `${part} ${of}`);

/** Two DaemonSets with an update each. */
const open = async (t: TestContext) => {
  const testbed = await openTestbed(t);
  for (const name of ['app', 'other']) testbed.deploy({}, name);
  const { agent, decisions } = await testbed.start();
  const are = (state: string): boolean =>
    agent.updates().length === 2 && agent.updates().every((update) => update.state === state && update.running.ready);
  await testbed.until('the pods run', () => are('current'));
  for (const name of ['app', 'other']) testbed.setImage('app:v2', name);
  await testbed.until('the updates are there', () => are('available'));
  return { testbed, agent, decisions };
};

/** A copy of which one field throws when it is read. */
const throwing = (object: KubeObject, [field = '', ...rest]: readonly string[]): KubeObject => {
  const copy: Record<string, unknown> = { ...object };
  if (rest.length > 0) return { ...copy, [field]: throwing(copy[field] ?? {}, rest) };
  return Object.defineProperty(copy, field, {
    enumerable: true,
    get: () => {
      throw new Error(SAID);
    },
  });
};

/** Changes the pod, so that the agent receives it again. */
const nudge = (testbed: Testbed, name: Name): void => {
  const { name: pod = '', labels = {} } = podOf(testbed, name)?.metadata ?? {};
  const touched = `${labels.touched ?? ''}x`;
  const ref = { namespace: 'default', name: pod };
  testbed.apiServer.patch(pods, ref, { metadata: { labels: { touched } } }, { type: 'merge' });
};

const isOf = (object: KubeObject, kind: 'pod' | 'daemonset', name: Name): boolean => {
  const found = object.metadata?.name ?? '';
  return kind === 'pod' ? found.startsWith(`${name}-`) && 'status' in object : found === name && 'spec' in object;
};

describe('what the agent cannot compute', () => {
  it('is not acted on while a pod stays unreadable: it says so, and the other DaemonSet is updated', async (t) => {
    const { testbed, agent } = await open(t);
    testbed.odd.receive = (object) => (isOf(object, 'pod', 'app') ? throwing(object, ['spec']) : object);
    nudge(testbed, 'app');
    await testbed.until('it says so', () => shown(agent, 'app').state === 'unknown');
    const { reason, message, pod, target } = shown(agent, 'app');
    assert.equal(reason, 'NotComputable');
    assert.match(message, new RegExp(`nothing is done: pod ${pod} cannot be read: ${SAID}`));
    assert.equal(target.images?.[0]?.image, 'app:v2', 'what was known stays');
    const served = agent.pods().items.find((item) => (item as Pod).metadata?.name === pod) as Pod;
    assert.deepEqual(served.status, { phase: 'Unknown', reason: 'AgentCannotRead', message: SAID });
    assert.deepEqual(counts(agent), [`pod default/${pod}`, 'record default/app']);
    await testbed.until('an Event', () => testbed.events.some((event) => event.reason === 'UpdateNotComputable'));

    const { id } = await choose(agent, 'app');
    await choose(agent, 'other');
    await untilUpdated(testbed, 'other');
    await testbed.advance(3_600_000);
    assert.equal(deletesOf(testbed, 'app'), 0);
    assert.equal(shown(agent, 'app').state, 'unknown');
    assert.equal(shown(agent, 'app').decision?.id, id);
    assert.equal(shown(agent, 'other').state, 'current');
    assert.equal(testbed.events.filter((event) => event.reason === 'UpdateNotComputable').length, 1);

    // A hostile pod heals when it changes.
    testbed.odd.receive = (object) => object;
    nudge(testbed, 'app');
    await untilUpdated(testbed, 'app');
    assert.equal(deletesOf(testbed, 'app'), 1);
    assert.deepEqual(counts(agent), []);
  });

  it('is tried again when an exception came once, although nothing changes', async (t) => {
    const { testbed, agent } = await open(t);
    let left = 2;
    testbed.odd.receive = (object) => {
      if (!isOf(object, 'pod', 'app') || left === 0) return object;
      return Object.defineProperty({ ...object }, 'spec', {
        enumerable: true,
        get: () => {
          if (left === 0) return (object as Pod).spec;
          left -= 1;
          throw new Error(SAID);
        },
      });
    };
    nudge(testbed, 'app');
    await testbed.until('it says so', () => shown(agent, 'app').state === 'unknown');
    await choose(agent, 'app');
    await untilUpdated(testbed, 'app');
    assert.equal(left, 0);
    assert.equal(deletesOf(testbed, 'app'), 1);
    assert.deepEqual(counts(agent), []);
  });

  it('is not acted on while the settings of the DaemonSet are unreadable, by its owner or by a deadline', async (t) => {
    const { testbed, agent } = await open(t);
    testbed.odd.receive = (object) =>
      isOf(object, 'daemonset', 'app') ? throwing(object, ['metadata', 'annotations']) : object;
    const past = new Date(testbed.clock.now() - 1_000).toISOString();
    const deadline = { 'edgeset.io/ota-deadline': past, 'edgeset.io/ota-deadline-spread': '0s' };
    testbed.patchDaemonSet({ metadata: { annotations: deadline } });
    await testbed.until('it says so', () => shown(agent, 'app').state === 'unknown');
    assert.match(shown(agent, 'app').message, /the settings of DaemonSet app cannot be read/);
    assert.ok(counts(agent).includes('terms default/app'));
    await choose(agent, 'other');
    await untilUpdated(testbed, 'other');
    await testbed.advance(600_000);
    assert.equal(deletesOf(testbed, 'app'), 0);
    testbed.odd.receive = (object) => object;
    testbed.patchDaemonSet({ metadata: { labels: { touched: 'yes' } } });
    await untilUpdated(testbed, 'app');
    assert.deepEqual(counts(agent), []);
  });

  it('is not acted on when only the last check before the delete throws; a caller receives 503', async (t) => {
    const { testbed, agent } = await open(t);
    // Lists and watches deliver it as it is.
    const reads = { odd: false };
    testbed.odd.receive = (object) =>
      reads.odd && isOf(object, 'daemonset', 'app') ? throwing(object, ['metadata', 'annotations']) : object;
    reads.odd = true;
    await choose(agent, 'app');
    await choose(agent, 'other');
    await untilUpdated(testbed, 'other');
    assert.equal(deletesOf(testbed, 'app'), 0);
    assert.equal(`${shown(agent, 'app').state} ${shown(agent, 'app').reason}`, 'queued NotComputable');
    const ref = { namespace: 'default', name: podOf(testbed, 'app')?.metadata?.name ?? '' };
    for (const ask of [
      () => agent.upgrade(ref, owner, { queue: false, reauthorize: authorized }),
      () => agent.imagePull(ref, owner),
    ]) {
      const { answer } = await responseOf(testbed, ask());
      assert.equal(answer.status, 503);
      assert.match(answer.text, new RegExp(`can not compute .* nothing is done: ${SAID}`));
    }
    reads.odd = false;
    await untilUpdated(testbed, 'app', 300_000);
    assert.equal(deletesOf(testbed, 'app'), 1);
    assert.deepEqual(counts(agent), []);
  });

  it('is not acted on when the next step throws, and heals with another decision', async (t) => {
    const { testbed, agent } = await open(t);
    await choose(agent, 'app', { choice: 'approve', when: { type: 'window', from: '03:00', to: '04:00' } });
    await testbed.advance(1_000);
    // As another version of the agent might have it.
    const decision = testbed.decisions()?.current({ namespace: 'default', daemonSet: 'app' });
    Object.assign(decision ?? {}, { decision: { choice: 'approve', when: { type: 'full moon' } } });
    await choose(agent, 'other');
    await untilUpdated(testbed, 'other');
    await testbed.advance(3_600_000);
    assert.equal(shown(agent, 'app').state, 'unknown');
    assert.equal(deletesOf(testbed, 'app'), 0);
    assert.ok(counts(agent).includes('step default/app'), counts(agent).join());
    await choose(agent, 'app');
    await testbed.until('it is updated', () => image(testbed, 'app') === 'app:v2', 5_000);
    assert.deepEqual(counts(agent), []);
  });

  it('refuses to queue an update of an unreadable pod', async (t) => {
    const { testbed, agent } = await open(t);
    testbed.odd.receive = (object) => (isOf(object, 'pod', 'app') ? throwing(object, ['status']) : object);
    nudge(testbed, 'app');
    await testbed.until('it says so', () => shown(agent, 'app').state === 'unknown');
    testbed.cut(true);
    await testbed.advance(60_000);
    const ref = { namespace: 'default', name: podOf(testbed, 'app')?.metadata?.name ?? '' };
    const { answer } = await responseOf(testbed, agent.upgrade(ref, owner, { queue: true, reauthorize: authorized }));
    assert.equal(answer.status, 503, answer.text);
    assert.match(answer.text, new RegExp(SAID));
  });

  it('is still shown as such after a restart offline, with the decision', async (t) => {
    const { testbed, agent } = await open(t);
    testbed.odd.receive = (object) => (isOf(object, 'pod', 'app') ? throwing(object, ['status']) : object);
    nudge(testbed, 'app');
    await testbed.until('it says so', () => shown(agent, 'app').state === 'unknown');
    const { id } = await choose(agent, 'app');
    await testbed.advance(3_000);
    await eventually('it is on disk', async () => (await testbed.saved('pods.json')).includes('AgentCannotRead'));
    await eventually('both are', async () => (await testbed.saved('updates.json')).includes('NewRevision'));
    testbed.cut(true);
    const { agent: next } = await testbed.start({ killed: true });
    assert.equal(shown(next, 'app').state, 'unknown');
    assert.equal(shown(next, 'app').decision?.id, id);
    assert.equal(shown(next, 'other').state, 'available');
    testbed.odd.receive = (object) => object;
    testbed.cut(false);
    await untilUpdated(testbed, 'app', 120_000);
    assert.equal(deletesOf(testbed, 'app'), 1);
  });

  it('is shown for a DaemonSet of which nothing was known before, and asks nobody', async (t) => {
    const testbed = await openTestbed(t);
    testbed.odd.receive = (object) => (isOf(object, 'pod', 'app') ? throwing(object, ['status']) : object);
    testbed.deploy();
    const { agent } = await testbed.start();
    await testbed.until('it says so', () => agent.updates()[0]?.state === 'unknown');
    assert.equal(agent.updates()[0]?.target.revision, null);
    const ref = { namespace: 'default', daemonSet: 'app' };
    const result = await agent.decide(ref, 'abc', now, owner, authorized);
    assert.ok(result.kind === 'refused' && result.status === 409 && result.reason === 'NotComputable');
    testbed.odd.receive = (object) => object;
    await testbed.until('it is known', () => agent.updates()[0]?.state === 'current');
    assert.deepEqual(counts(agent), []);
  });

  /** Every field that the API server sends, down to the third level. */
  const fieldsOf = (value: unknown, depth = 0): string[][] =>
    typeof value !== 'object' || value === null || Array.isArray(value) || depth === 3
      ? []
      : Object.entries(value).flatMap(([field, inner]) => [
          [field],
          ...fieldsOf(inner, depth + 1).map((rest) => [field, ...rest]),
        ]);

  it('stops no other update, whatever field throws, and heals', async (t) => {
    const { testbed: model } = await open(t);
    // Without its name, the reflector cannot tell which object it is.
    const identity = ['metadata', 'metadata name', 'metadata namespace', 'metadata uid', 'metadata resourceVersion'];
    const fields = fieldsOf(structuredClone(podOf(model, 'app'))).filter((path) => !identity.includes(path.join(' ')));
    assert.ok(fields.length > 20, `${fields.length} fields`);
    for (const path of fields) {
      const { testbed, agent } = await open(t);
      const label = path.join('.');
      testbed.odd.receive = (object) => (isOf(object, 'pod', 'app') ? throwing(object, path) : object);
      nudge(testbed, 'app');
      await testbed.advance(1_000);
      const wasUnknown = shown(agent, 'app').state === 'unknown';
      await choose(agent, 'app');
      await choose(agent, 'other');
      await untilUpdated(testbed, 'other');
      await testbed.advance(30_000);
      if (wasUnknown) assert.equal(deletesOf(testbed, 'app'), 0, label);
      testbed.odd.receive = (object) => object;
      nudge(testbed, 'app');
      await untilUpdated(testbed, 'app', 600_000);
      assert.equal(deletesOf(testbed, 'app'), 1, label);
      await testbed.close();
    }
  });
});
