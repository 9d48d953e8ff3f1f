import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLedger, type ImageRequest, type PodFacts, type RequestingDaemonSet } from '../../rollout/index.ts';
import { testKind } from '../testing/fixtures.ts';
import { createImageRequestTracker } from './image-requests.ts';

const viewWith = (annotations: Record<string, string>) => {
  const view = testKind.toView({
    metadata: { namespace: 'edge', name: 'app', uid: 'd1', annotations },
    spec: {
      selector: { matchLabels: { app: 'app' } },
      updateStrategy: { type: 'OnDelete' },
      template: { metadata: { labels: { app: 'app' } }, spec: { containers: [{ name: 'app', image: 'app:v1' }] } },
    },
  });
  assert.ok(view);
  return view;
};
const pod = (change?: Pick<PodFacts, 'images' | 'announced'>, uid = 'p1'): PodFacts => ({
  uid,
  name: `app-${uid}`,
  resourceVersion: '7',
  node: 'n1',
  revision: 'a',
  createdAt: 0,
  terminating: false,
  ready: true,
  readyChangedAt: 0,
  trouble: undefined,
  detail: '',
  ...change,
});
const request = { revision: 'b', failure: undefined };
const images = { revision: 'b', state: 'requested' as const, cause: '', at: 0 };
const announced = { status: 'True', reason: 'NewRevision', message: 'controllerrevision: b' };
const asks = { images, announced };
const NODE = { name: 'n1', ready: true, readyChangedAt: 0, eligible: true, selected: true, zone: '' };
const STRATEGY = 'apps.openyurt.io/update-strategy';

const listen = () => {
  const reported: { daemonSet: RequestingDaemonSet; requests: ReadonlyMap<string, ImageRequest> | undefined }[] = [];
  let view = viewWith({ [STRATEGY]: 'ota', 'apps.kruise.io/image-predownload-timeout-seconds': '60' });
  const ledger = createLedger(view.policy.policy);
  const tracker = createImageRequestTracker({
    ledger,
    requests: { update: (daemonSet, requests) => void reported.push({ daemonSet, requests }) },
    view: () => view,
  });
  return {
    reported,
    tracker,
    ledger,
    change: (annotations: Record<string, string>): void => {
      view = viewWith(annotations);
      ledger.setPolicy(view.policy.policy, 0);
      tracker.refresh();
    },
    last: (): string[] | undefined => {
      const requests = reported.at(-1)?.requests;
      return requests && [...requests.keys()];
    },
  };
};

describe('the image requests of a DaemonSet', () => {
  it('are reported as a whole once the pods are synced, and then with every change', () => {
    const { reported, tracker, last } = listen();
    tracker.setPod(pod(asks));
    assert.deepEqual(reported, []);
    tracker.podsSynced();
    assert.deepEqual(reported, [
      {
        daemonSet: { namespace: 'edge', name: 'app', uid: 'd1', pullTimeoutMs: 60_000, parallelism: 10 },
        requests: new Map([['p1', { podUid: 'p1', podName: 'app-p1', node: 'n1', resourceVersion: '7', ...request }]]),
      },
    ]);
    tracker.setPod(pod(asks, 'p2'));
    assert.deepEqual(last(), ['p1', 'p2']);
    tracker.setPod(pod());
    assert.deepEqual(last(), ['p2']);
    tracker.removePod(pod(asks, 'p2'));
    assert.deepEqual(last(), []);
  });

  it('are not copied for each pod that asks', () => {
    const { reported, tracker } = listen();
    tracker.podsSynced();
    tracker.setPod(pod(asks));
    tracker.setPod(pod(asks, 'p2'));
    assert.equal(reported[1]?.requests, reported[2]?.requests, 'the same map');
  });

  it('are not reported again for pods that ask for nothing', () => {
    const { reported, tracker } = listen();
    tracker.podsSynced();
    tracker.setPod(pod());
    tracker.removePod(pod());
    assert.equal(reported.length, 1);
  });

  it('of owners are valid under the strategy ota only', () => {
    const { tracker, change, last } = listen();
    tracker.setPod(pod(asks));
    tracker.podsSynced();
    change({ [STRATEGY]: 'auto' });
    assert.deepEqual(last(), []);
    change({ [STRATEGY]: 'ota', 'edgeset.io/partition': 'many' });
    assert.deepEqual(last(), []);
    change({ [STRATEGY]: 'ota' });
    assert.deepEqual(last(), ['p1']);
  });

  it('of ours are valid under the strategy auto: for the target alone, on nodes with another revision', () => {
    const { tracker, ledger, change, last, reported } = listen();
    tracker.podsSynced();
    ledger.setNode(NODE, 0);
    ledger.setTarget({ name: 'app-b', hash: 'b', number: 1 }, 0);
    change({ [STRATEGY]: 'auto', 'edgeset.io/predownload': 'required' });
    ledger.setPod(pod({ images }), 0);
    tracker.setPod(pod({ images }));
    assert.deepEqual(reported.at(-1)?.requests?.get('p1')?.runs, 'a');
    ledger.setTarget({ name: 'app-c', hash: 'c', number: 2 }, 0);
    tracker.refreshIfChanged();
    assert.deepEqual(last(), []);
    const { length } = reported;
    tracker.refreshIfChanged();
    assert.equal(reported.length, length, 'nothing has changed');
  });

  it('of ours are reported once the target is known, so that the pulls of an earlier leader continue', () => {
    const { tracker, ledger, change, reported, last } = listen();
    ledger.setNode(NODE, 0);
    change({ [STRATEGY]: 'auto', 'edgeset.io/predownload': 'required' });
    tracker.setPod(pod({ images }));
    tracker.podsSynced();
    assert.equal(reported.length, 0);
    ledger.setPod(pod({ images }), 0);
    ledger.setTarget({ name: 'app-b', hash: 'b', number: 1 }, 0);
    tracker.refreshIfChanged();
    assert.deepEqual(last(), ['p1']);
  });

  it('of ours are not valid where images are no longer pulled ahead', () => {
    const { tracker, ledger, change, last } = listen();
    tracker.podsSynced();
    ledger.setNode(NODE, 0);
    ledger.setTarget({ name: 'app-b', hash: 'b', number: 1 }, 0);
    change({ [STRATEGY]: 'auto', 'edgeset.io/predownload': 'off' });
    ledger.setPod(pod({ images }), 0);
    tracker.setPod(pod({ images }));
    assert.deepEqual(last(), []);
  });

  it('end when the DaemonSet is no longer managed, whatever the watch still says of pods', () => {
    const { reported, tracker, last } = listen();
    tracker.podsSynced();
    tracker.close();
    assert.equal(last(), undefined);
    const { length } = reported;
    tracker.setPod(pod(asks));
    tracker.podsSynced();
    tracker.refresh();
    tracker.close();
    assert.equal(reported.length, length, 'another reconciler may report by now');
  });
});
