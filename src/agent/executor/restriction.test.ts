import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KubeClient, KubeError } from '../../kube/index.ts';
import { silentLogger } from '../../runtime/index.ts';
import { approveNow, decide, openWithUpdate, stateOf, upgrade } from '../testing/scenario.ts';
import { refuse } from './refusal.ts';
import { createRestriction } from './restriction.ts';

const pod = (namespace = 'shop') => ({ metadata: { namespace, name: 'till', uid: 'u' } });
const call = { timeoutMs: 1_000, signal: new AbortController().signal };
const denied = new KubeError('Forbidden', 'denied request', { status: 403, details: { causes: [{ message: 'no' }] } });

/** `refuses`: how the API server answers the forbidden write; undefined: it accepts it. */
const createSetup = (refuses: KubeError | undefined, mayCreatePods = false) => {
  const server = { refuses, writes: 0, dryRuns: 0 };
  const client = {
    create: ({ plural }, object, options) => {
      if (plural !== 'events') return Promise.resolve({ ...object, status: { allowed: mayCreatePods } });
      server.writes += 1;
      if (options?.dryRun) server.dryRuns += 1;
      return server.refuses ? Promise.reject(server.refuses) : Promise.resolve(object);
    },
  } as Pick<KubeClient, 'create'>;
  return { server, restriction: createRestriction({ client, env: { log: silentLogger } }) };
};

describe('the check that a policy restricts the agent', () => {
  it('passes if a forbidden write is refused, and asks once for each namespace, by a dry run', async () => {
    const { server, restriction } = createSetup(denied);
    for (const namespace of ['shop', 'shop', 'depot'])
      assert.equal(await restriction.check(pod(namespace), call), undefined);
    assert.deepEqual(server, { refuses: denied, writes: 2, dryRuns: 2 });
    assert.equal(restriction.unrestricted, false);
  });

  it('fails if the write is accepted, and says what to do', async () => {
    const { server, restriction } = createSetup(undefined);
    const refusal = await restriction.check(pod(), call);
    assert.deepEqual([refusal?.code, refusal?.status], ['Unrestricted', 502]);
    assert.match(refusal?.text ?? '', /apply deploy\/agent\/policy\.yaml, with the namespace and the name/);
    assert.equal(restriction.unrestricted, true);
    server.refuses = denied;
    assert.equal(await restriction.check(pod(), call), undefined, 'the policy was applied');
    assert.equal(restriction.unrestricted, false);
  });

  it('lets an administrator try the agent', async () => {
    const { restriction } = createSetup(undefined, true);
    assert.equal(await restriction.check(pod(), call), undefined);
    assert.equal(restriction.unrestricted, true);
  });

  it('does not take another refusal for that of the policy, and asks again', async () => {
    for (const [error, code] of [
      [new KubeError('Forbidden', 'cannot create resource "events"', { status: 403 }), 'Unreadable'],
      [
        new KubeError('Forbidden', 'it is being terminated', {
          status: 403,
          details: { causes: [{ message: 'x', reason: 'NamespaceTerminating' }] },
        }),
        'Unreadable',
      ],
      [new KubeError('BadRequest', 'a webhook supports no dry run', { status: 400 }), 'Unreadable'],
      [new KubeError('Timeout', 'no answer'), 'Disconnected'],
    ] as const) {
      const { server, restriction } = createSetup(error);
      assert.equal((await restriction.check(pod(), call))?.code, code);
      server.refuses = denied;
      assert.equal(await restriction.check(pod(), call), undefined);
    }
  });
});

describe('an agent that nothing restricts', () => {
  it('updates nothing, shows why, and continues when it is restricted', async (t) => {
    const { testbed, agent } = await openWithUpdate(t);
    testbed.rights.refusal = refuse('Unrestricted', 502, 'No pod can be updated');
    assert.deepEqual((await upgrade(testbed, agent)).answer, { status: 502, text: 'No pod can be updated' });
    await decide(agent, approveNow);
    await testbed.advance(60_000);
    assert.equal(stateOf(agent), 'queued Unrestricted');
    assert.equal(testbed.deletes(), 0);
    testbed.rights.refusal = undefined;
    await testbed.until('it is carried out', () => agent.updates()[0]?.state === 'current', 360_000);
    assert.equal(testbed.deletes(), 1);
  });
});
