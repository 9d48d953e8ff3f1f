import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { createTestClock } from '../../test/support/index.ts';
import { daemonSets, type KubeObject } from '../kube/index.ts';
import type { DaemonRollout, DaemonRolloutStatus } from '../rollout/index.ts';
import { daemonRollouts, saysManaged } from './daemon-rollout.ts';
import { toRolloutView } from './informers.ts';
import { stopManaging, unmanagedStatus } from './stop-managing.ts';
import { createTestApi } from './testing/api.ts';
import { testKind } from './testing/kind.ts';

const status: DaemonRolloutStatus = {
  observedGeneration: 4,
  policyHash: 'h',
  strategy: 'auto',
  leader: 'm1',
  summary: 'Rolling out',
  target: { revision: 'app-2', hash: 'h2', number: 2 },
  rollout: 2,
  acted: 3,
  estimatedFinishAt: '2026-01-01T00:10:00Z',
  budget: { maxUnavailable: '1', nodes: 1, inUse: 1, inFlight: 1 },
  breaker: { failures: 1, suspects: 0, threshold: 3 },
  failing: [{ node: 'n1', cause: 'deadline', message: '', since: '2026-01-01T00:00:00Z' }],
  halted: { at: '2026-01-01T00:00:00Z', reason: 'Failures', nodes: ['n1'] },
  reservations: [{ node: 'n2', podUID: 'p', rollout: 2, at: '2026-01-01T00:00:00.000Z', carriedOut: false }],
  forgiven: ['n3'],
  conditions: ['Ready', 'Reconciling', 'Stalled', 'Complete', 'Paused', 'Halted'].map((type) => ({
    type,
    status: type === 'Paused' ? 'False' : 'True',
    reason: 'Whatever',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  })),
};

describe('the status of a rollout that is no longer managed', () => {
  const now = Date.parse('2026-02-02T00:00:00Z');
  const retired = unmanagedStatus(status, 7, 'Nobody looks after it.', now);

  it('keeps what a later manager continues from, and nothing of the present', () => {
    const { conditions: _, summary, observedGeneration, ...kept } = retired;
    const { target, rollout, acted, halted, reservations, forgiven, leader, strategy } = status;
    assert.deepEqual(kept, { target, rollout, acted, halted, reservations, forgiven, leader, strategy });
    assert.deepEqual([summary, observedGeneration], ['Not managed', 7]);
  });

  it('says in its conditions that it is not managed, and changes their times only if their status changes', () => {
    const verdicts = Object.fromEntries((retired.conditions ?? []).map(({ type, status: is }) => [type, is]));
    assert.deepEqual(verdicts, {
      Ready: 'Unknown',
      Reconciling: 'False',
      Stalled: 'False',
      Complete: 'Unknown',
      Paused: 'False',
      Halted: 'False',
    });
    const time = (type: string) => retired.conditions?.find((each) => each.type === type)?.lastTransitionTime;
    assert.equal(time('Paused'), '2026-01-01T00:00:00Z');
    assert.equal(time('Ready'), '2026-02-02T00:00:00Z');
    assert.ok(
      retired.conditions?.every(
        ({ reason, message }) => reason === 'NotManaged' && message === 'Nobody looks after it.',
      ),
    );
  });

  it('changes once, and its generation never decreases', () => {
    assert.equal(saysManaged(status), true);
    assert.equal(saysManaged(retired), false);
    assert.equal(saysManaged(undefined), false);
    assert.deepEqual(unmanagedStatus(retired, 3, 'Nobody looks after it.', now + 1), retired);
  });
});

it('a DaemonRollout is cached if a DaemonSet of the kind owns it, in any of its versions', () => {
  const object = (apiVersion: string, kind: string) => ({
    apiVersion: 'edgeset.io/v1alpha1' as const,
    kind: 'DaemonRollout' as const,
    metadata: {
      namespace: 'edge',
      name: 'app.test',
      ownerReferences: [{ apiVersion, kind, name: 'app', uid: 'u', controller: true }],
    },
    status,
  });
  const view = (rollout: DaemonRollout) => toRolloutView(rollout, daemonSets);
  assert.deepEqual(view(object('apps/v1', 'DaemonSet')), { daemonSet: 'edge/app', saysManaged: true });
  assert.deepEqual(view(object('apps/v1beta2', 'DaemonSet')), { daemonSet: 'edge/app', saysManaged: true });
  assert.equal(view(object('apps.kruise.io/v1alpha1', 'DaemonSet')), undefined);
  assert.equal(view(object('apps/v1', 'Deployment')), undefined);
  assert.equal(view({ ...object('apps/v1', 'DaemonSet'), metadata: {} }), undefined);
});

describe('a DaemonRollout says that its DaemonSet is not managed', () => {
  const ref = { namespace: 'edge', name: 'app' };
  const prepare = (change: { annotations?: Record<string, string>; deletionTimestamp?: string } = {}) => {
    const clock = createTestClock();
    const api = createTestApi(clock);
    const spec = {
      selector: { matchLabels: { app: 'app' } },
      updateStrategy: { type: 'OnDelete' },
      template: { spec: { containers: [] } },
    };
    const set = api.objects.create(daemonSets, { metadata: { ...ref, ...change }, spec } as DaemonSet);
    const own = (uid: string): void =>
      void api.objects.create(daemonRollouts, {
        metadata: {
          namespace: 'edge',
          name: 'app.test',
          ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'app', uid, controller: true }],
        },
        status,
      } as KubeObject);
    const run = () => stopManaging(api.client, testKind, ref, 'm1', clock, new AbortController().signal);
    return { api, uid: set.metadata?.uid ?? '', own, run };
  };

  it('if the DaemonSet exists and is not managed, and then never again', async () => {
    const { own, uid, run } = prepare();
    own(uid);
    assert.equal(await run(), true);
    assert.equal(await run(), false);
  });

  it('not if the DaemonSet is gone, being deleted, another one, or managed after all', async () => {
    const gone = prepare();
    gone.own(gone.uid);
    gone.api.objects.remove(daemonSets, ref);
    const going = prepare({ deletionTimestamp: '2026-01-01T00:00:00Z' });
    going.own(going.uid);
    const another = prepare();
    another.own('of an earlier one');
    const managed = prepare({ annotations: { 'apps.openyurt.io/update-strategy': 'auto' } });
    managed.own(managed.uid);
    for (const { run, api } of [gone, going, another, managed]) {
      assert.equal(await run(), false);
      assert.deepEqual(api.sent('replace', 'daemonrollouts'), []);
    }
  });

  it('not if there is no DaemonRollout', async () => assert.equal(await prepare().run(), false));
});
