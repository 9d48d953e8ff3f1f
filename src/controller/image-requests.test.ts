import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLedger, type ImageRequest, type PodFacts, type RequestingDaemonSet } from '../rollout/index.ts';
import { createImageRequestTracker } from './image-requests.ts';
import { testKind } from './testing/kind.ts';

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
const pod = (wish?: Pick<PodFacts, 'images' | 'announced'>, uid = 'p1'): PodFacts => ({
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
  ...wish,
});
const request = { revision: 'b', failure: undefined };
const images = { revision: 'b', state: 'requested' as const, cause: '', byAgent: false, at: 0 };
const announced = { status: 'True', reason: 'NewRevision', message: 'controllerrevision: b' };
const asks = { images, announced };
const NODE = { name: 'n1', ready: true, readyChangedAt: 0, eligible: true, selected: true, zone: '' };
const STRATEGY = 'apps.openyurt.io/update-strategy';

const listen = () => {
  const told: { daemonSet: RequestingDaemonSet; requests: ReadonlyMap<string, ImageRequest> | undefined }[] = [];
  let view = viewWith({ [STRATEGY]: 'ota', 'apps.kruise.io/image-predownload-timeout-seconds': '60' });
  const ledger = createLedger(view.policy.policy);
  const asked = createImageRequestTracker({
    ledger,
    requests: { update: (daemonSet, requests) => void told.push({ daemonSet, requests }) },
    view: () => view,
  });
  return {
    told,
    asked,
    ledger,
    change: (annotations: Record<string, string>): void => {
      view = viewWith(annotations);
      ledger.setPolicy(view.policy.policy, 0);
      asked.refresh();
    },
    last: (): string[] | undefined => {
      const requests = told.at(-1)?.requests;
      return requests && [...requests.keys()];
    },
  };
};

describe('what the pods of a DaemonSet ask for', () => {
  it('is told once their cache is filled, whole, and then with every change', () => {
    const { told, asked, last } = listen();
    asked.handler.upsert?.('edge/app-p1', pod(asks), undefined);
    assert.deepEqual(told, []);
    asked.handler.synced?.();
    assert.deepEqual(told, [
      {
        daemonSet: { namespace: 'edge', name: 'app', uid: 'd1', pullTimeoutMs: 60_000, parallelism: 10 },
        requests: new Map([['p1', { podUid: 'p1', podName: 'app-p1', node: 'n1', resourceVersion: '7', ...request }]]),
      },
    ]);
    asked.handler.upsert?.('edge/app-p2', pod(asks, 'p2'), undefined);
    assert.deepEqual(last(), ['p1', 'p2']);
    asked.handler.upsert?.('edge/app-p1', pod(), pod(asks));
    assert.deepEqual(last(), ['p2']);
    asked.handler.remove?.('edge/app-p2', pod(asks, 'p2'));
    assert.deepEqual(last(), []);
  });

  it('costs no more with each pod that asks', () => {
    const { told, asked } = listen();
    asked.handler.synced?.();
    asked.handler.upsert?.('edge/app-p1', pod(asks), undefined);
    asked.handler.upsert?.('edge/app-p2', pod(asks, 'p2'), undefined);
    assert.equal(told[1]?.requests, told[2]?.requests, 'it is not copied');
  });

  it('is not told again of pods that ask for nothing', () => {
    const { told, asked } = listen();
    asked.handler.synced?.();
    asked.handler.upsert?.('edge/app-p1', pod(), undefined);
    asked.handler.remove?.('edge/app-p1', pod());
    assert.equal(told.length, 1);
  });

  it('stands in the OTA mode only', () => {
    const { asked, change, last } = listen();
    asked.handler.upsert?.('edge/app-p1', pod(asks), undefined);
    asked.handler.synced?.();
    change({ [STRATEGY]: 'auto' });
    assert.deepEqual(last(), []);
    change({ [STRATEGY]: 'ota', 'edgeset.io/partition': 'many' });
    assert.deepEqual(last(), []);
    change({ [STRATEGY]: 'ota' });
    assert.deepEqual(last(), ['p1']);
  });

  it('is of our own asking in the automatic mode: for the target alone, on nodes with another revision', () => {
    const { asked, ledger, change, last, told } = listen();
    asked.handler.synced?.();
    ledger.setNode({ ...NODE, hasImageAgent: true }, 0);
    ledger.setTarget({ name: 'app-b', hash: 'b', number: 1 }, 0);
    change({ [STRATEGY]: 'auto', 'edgeset.io/predownload': 'required' });
    ledger.setPod(pod({ images }), 0);
    asked.handler.upsert?.('edge/app-p1', pod({ images }), undefined);
    assert.deepEqual(told.at(-1)?.requests?.get('p1')?.runs, 'a');
    assert.equal(told.at(-1)?.requests?.get('p1')?.byAgent, true);
    ledger.setTarget({ name: 'app-c', hash: 'c', number: 2 }, 0);
    asked.review();
    assert.deepEqual(last(), []);
    const { length } = told;
    asked.review();
    assert.equal(told.length, length, 'the same is not told twice');
  });

  it('is told of our own asking only once the target is known: what a leader before us began goes on', () => {
    const { asked, ledger, change, told, last } = listen();
    ledger.setNode(NODE, 0);
    change({ [STRATEGY]: 'auto', 'edgeset.io/predownload': 'required' });
    asked.handler.upsert?.('edge/app-p1', pod({ images }), undefined);
    asked.handler.synced?.();
    assert.equal(told.length, 0);
    ledger.setPod(pod({ images }), 0);
    ledger.setTarget({ name: 'app-b', hash: 'b', number: 1 }, 0);
    asked.review();
    assert.deepEqual(last(), ['p1']);
  });

  it('is nothing of our asking where images are not pulled ahead any more', () => {
    const { asked, ledger, change, last } = listen();
    asked.handler.synced?.();
    ledger.setNode(NODE, 0);
    ledger.setTarget({ name: 'app-b', hash: 'b', number: 1 }, 0);
    change({ [STRATEGY]: 'auto', 'edgeset.io/predownload': 'off' });
    ledger.setPod(pod({ images }), 0);
    asked.handler.upsert?.('edge/app-p1', pod({ images }), undefined);
    assert.deepEqual(last(), []);
  });

  it('ends with the service, whatever is still told of pods', () => {
    const { told, asked, last } = listen();
    asked.handler.synced?.();
    asked.close();
    assert.equal(last(), undefined);
    const { length } = told;
    asked.handler.upsert?.('edge/app-p1', pod(asks), undefined);
    asked.handler.synced?.();
    asked.refresh();
    asked.close();
    assert.equal(told.length, length, 'it would be taken for the word of the session that serves it now');
  });
});
