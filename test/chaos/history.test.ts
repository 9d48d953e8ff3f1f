import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AuditRecord } from '../conformance/index.ts';
import { completeHistory } from './history.ts';

const MANAGER = 'system:serviceaccount:edge:edgeset-manager';
const product = (user: string): boolean => user === MANAGER;

const record = (fields: Partial<AuditRecord>): AuditRecord => ({
  receivedAt: 1_000,
  answeredAt: 1_010,
  user: 'chaos:watcher',
  userAgent: '',
  verb: 'update',
  group: '',
  resource: 'pods',
  namespace: 'edge',
  name: 'app-1',
  code: 200,
  request: undefined,
  response: undefined,
  ...fields,
});

const pod = (resourceVersion: number, metadata: object = {}, more: object = {}) => ({
  kind: 'Pod',
  metadata: { name: 'app-1', uid: 'p-1', resourceVersion: String(resourceVersion), ...metadata },
  ...more,
});

const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 };
const lost = (fields: Partial<AuditRecord>) => record({ user: MANAGER, code: 504, ...fields });
const observation = (at: number, response: object) => record({ receivedAt: at, answeredAt: at, response });

describe('completeHistory', () => {
  it('contains what was observed and the log omits, once', () => {
    const told = record({ user: 'kwok', response: pod(5) });
    const seen = [observation(1_001, pod(5)), observation(1_002, pod(6)), observation(9_000, pod(6))];
    assert.deepEqual(completeHistory([told], seen, product), [told, seen[1]]);
  });

  it('completes a delete whose response was lost, from the terminating pod', () => {
    const call = lost({ verb: 'delete', request: { preconditions: { uid: 'p-1' } } });
    const [, done, ...rest] = completeHistory([call], [observation(1_005, pod(6, leaving))], product);
    assert.deepEqual([done?.user, done?.code, done?.verb, rest], [MANAGER, 200, 'delete', []]);
    assert.deepEqual(done?.response, pod(6, leaving));
  });

  it('attributes a deletion to no second delete, and to none of another pod', () => {
    const calls = [
      lost({ verb: 'delete', request: { preconditions: { uid: 'p-1' } } }),
      lost({ verb: 'delete', request: { preconditions: { uid: 'p-1' } } }),
      lost({ verb: 'delete', request: { preconditions: { uid: 'p-2' } } }),
    ];
    const seen = [observation(1_005, pod(6, leaving)), observation(1_006, pod(7, leaving))];
    const done = completeHistory(calls, seen, product).filter(({ user, code }) => product(user) && code === 200);
    assert.equal(done.length, 1);
  });

  it('completes a patch whose response was lost, if the object has all requested fields', () => {
    const labels = { 'controller-revision-hash': 'new' };
    const request = { metadata: { uid: 'p-1', resourceVersion: '5', labels } };
    const other = observation(1_004, pod(6, { labels: { 'controller-revision-hash': 'old' } }));
    const same = observation(1_005, pod(7, { labels }));
    const history = completeHistory([lost({ verb: 'patch', request })], [other, same], product);
    assert.deepEqual(
      history.filter(({ code }) => code === 200).map(({ user, response }) => [user, response]),
      [
        [MANAGER, same.response],
        ['chaos:watcher', other.response],
      ],
    );
  });

  it('attributes a created pod by its owner, node and revision', () => {
    const owner = {
      apiVersion: 'apps.kruise.io/v1beta1',
      kind: 'DaemonSet',
      name: 'app',
      uid: 'd-1',
      controller: true,
    };
    const made = (node: string) => ({
      metadata: { ownerReferences: [owner], labels: { 'controller-revision-hash': 'new' } },
      spec: { nodeName: node },
    });
    const seen = observation(1_005, pod(6, made('n-1').metadata, { spec: { nodeName: 'n-1' } }));
    const doneBy = (node: string): number =>
      completeHistory([lost({ verb: 'create', name: '', request: made(node) })], [seen], product).filter(
        ({ user, code, name }) => product(user) && code === 200 && name === 'app-1',
      ).length;
    assert.equal(doneBy('n-1'), 1);
    assert.equal(doneBy('n-2'), 0);
  });

  it('leaves refused calls unchanged', () => {
    const call = lost({ verb: 'delete', code: 409, request: { preconditions: { uid: 'p-1' } } });
    const seen = observation(1_005, pod(6, leaving));
    assert.deepEqual(completeHistory([call], [seen], product), [call, seen]);
  });

  it('omits the first half of a delete', () => {
    const half = observation(1_005, pod(6, { ...leaving, deletionGracePeriodSeconds: 0 }));
    assert.deepEqual(completeHistory([], [half], product), []);
  });
});
