import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeError } from '../../../kube/index.ts';
import { formatSelector, fromLabelSelector } from '../../../rollout/index.ts';
import { HASH_LABEL } from '../revisions/history.ts';
import { type Fleet, withFleet } from '../testing/fleet.ts';
import { releasableSelectors } from './controller-ref-manager.ts';

const searches = ({ requests }: Fleet): number =>
  requests.filter(({ verb, plural, name }) => verb === 'list' && plural === 'pods' && name.startsWith(HASH_LABEL))
    .length;

it('the releasable selectors match pods of the revisions that the selector does not match', () => {
  const of = (selector: Parameters<typeof fromLabelSelector>[0], hashes: readonly string[]): string[] => {
    const parsed = fromLabelSelector(selector);
    assert.ok(parsed.ok);
    return releasableSelectors(formatSelector(parsed.selector), hashes);
  };
  assert.deepEqual(of({ matchLabels: { app: 'a' } }, []), []);
  assert.deepEqual(of({ matchLabels: { app: 'a' } }, ['h1']), ['controller-revision-hash=h1,app!=a']);
  const matchExpressions = [
    { key: 'tier', operator: 'NotIn', values: ['x', 'y'] },
    { key: 'zone', operator: 'Exists' },
    { key: 'old', operator: 'DoesNotExist' },
  ];
  assert.deepEqual(of({ matchExpressions }, ['h2', 'h1']).toSorted(), [
    'controller-revision-hash in (h1,h2),!zone',
    'controller-revision-hash in (h1,h2),old',
    'controller-revision-hash in (h1,h2),tier in (x,y)',
  ]);
});

describe('a pod that was relabeled while no manager ran', () => {
  it(
    'is searched for once, and again only after a failure',
    withFleet(async (fleet) => {
      const unavailable = new KubeError('ServiceUnavailable', 'not now', { status: 503 });
      fleet.faults.push({ verb: 'list', plural: 'pods', name: HASH_LABEL, error: unavailable, left: 1 });
      await fleet.create();
      await fleet.allRun('app:v1');
      await fleet.clock.advance(10_000);
      assert.equal(searches(fleet), 2);
      await fleet.setImage('app:v2');
      await fleet.allRun('app:v2');
      assert.equal(searches(fleet), 2);
    }),
  );

  it(
    'stays when its labels are restored before the release, also if the cache is stale',
    withFleet(async (fleet) => {
      await fleet.create();
      const before = await fleet.allRun('app:v1');
      const name = before.get('node-2')?.metadata?.name ?? '';
      const conflict = new KubeError('Conflict', 'it has changed', { status: 409 });
      // Its node gets another pod at once, and the older one of the two stays.
      await fleet.clock.advance(1_000);
      fleet.faults.push({ verb: 'patch', plural: 'pods', error: conflict, left: 1 });
      await fleet.patchPod(name, { labels: { app: 'other' } });
      await fleet.until('the release is attempted', async () => fleet.faults.at(-1)?.left === 0);
      await fleet.patchPod(name, { labels: { app: 'app' } });
      await fleet.clock.advance(10_000);
      const pod = (await fleet.pods()).find(({ metadata }) => metadata?.name === name);
      assert.ok(pod, 'the DaemonSet still owns the pod');
      await fleet.allRun('app:v1');
    }),
  );
});

describe('an orphaned pod', () => {});
