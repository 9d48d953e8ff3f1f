import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import { createTestClock } from '../../test/support/index.ts';
import type { KubeClient, KubeObject, Resource, WatchEvent, WatchOptions } from '../kube/index.ts';
import { silentLogger, sleep, untilAborted } from '../runtime/index.ts';
import { createPrefetch } from './prefetch.ts';

test('pull pods for a whole fleet are created a few at a time', async () => {
  const clock = createTestClock();
  const daemonSet = { namespace: 'a', name: 'app', uid: 'ds', parallelism: 300, pullTimeoutMs: 600_000 };
  const revision: ControllerRevision = {
    metadata: {
      name: 'app-2',
      namespace: 'a',
      labels: { 'controller-revision-hash': '2' },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'app', uid: 'ds', controller: true }],
    },
    revision: 2,
    data: { spec: { template: { spec: { containers: [{ name: 'app', image: 'app:v2' }] } } } },
  };
  async function* watch<T extends KubeObject>(_resource: Resource<T>, options: WatchOptions = {}) {
    const end: WatchEvent<T> = { type: 'BOOKMARK', resourceVersion: '1', initialEventsEnd: true };
    yield end;
    if (options.signal) await untilAborted(options.signal);
  }
  let now = 0;
  let most = 0;
  let created = 0;
  const client: Pick<KubeClient, 'list' | 'watch' | 'create'> = {
    watch,
    list: <T extends KubeObject>({ plural }: Resource<T>) =>
      Promise.resolve({ items: (plural === 'pods' ? [] : [revision]) as unknown as T[], resourceVersion: '1' }),
    create: async <T extends KubeObject>(_resource: Resource<T>, object: T) => {
      now += 1;
      most = Math.max(most, now);
      await sleep(clock, 100);
      now -= 1;
      created += 1;
      return object;
    },
  };
  const prefetch = createPrefetch({
    client: client as KubeClient,
    env: { clock, random: () => 0.5, log: silentLogger },
    cluster: { node: () => ({ ready: true }), complete: () => true, serves: () => true },
  });
  const stop = new AbortController();
  const running = [prefetch.run(stop.signal), prefetch.lead(stop.signal)];
  const requests = Array.from({ length: 300 }, (_, index) => {
    const [podUid, podName, node] = [`u${index}`, `app-${index}`, `n${index}`];
    return [podUid, { podUid, podName, node, resourceVersion: '1', revision: '2', failure: undefined }] as const;
  });
  prefetch.requests.update(daemonSet, new Map(requests));
  await clock.advance(2_000);
  assert.deepEqual([created, most], [300, 50]);
  stop.abort(new Error('over'));
  await clock.advance(1_000);
  await Promise.all(running);
});
