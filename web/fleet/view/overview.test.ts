import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { byUrgency, type RolloutState, rolloutStates } from '../types.ts';
import { clustersIn, countOf, filters, matches, orders, percentOf, widest, worstOf } from './overview.ts';

const row = (name: string, state: RolloutState, nodes: Record<string, number> = {}, startedAt?: string) => ({
  namespace: 'shop',
  name,
  state,
  nodes,
  startedAt,
});
const named = (rows: readonly { name: string }[]): string => rows.map(({ name }) => name).join();

describe('the overview', () => {
  it('shows what needs somebody first, and then by name as people count', () => {
    const rows = [
      row('web-10', 'complete'),
      row('web-2', 'running'),
      row('web-9', 'complete'),
      row('cam', 'paused'),
      row('db', 'approval'),
      row('till', 'halted'),
      row('web-1', 'invalid'),
    ];
    assert.equal(named(rows.toSorted(orders.state)), 'till,web-1,db,web-2,cam,web-9,web-10');
    assert.equal(named(rows.toSorted(orders.name)), 'cam,db,till,web-1,web-2,web-9,web-10');
  });

  it('knows the worst state', () => {
    assert.equal(worstOf([], []), undefined);
    const rows = [row('a', 'complete'), row('b', 'running'), row('c', 'approval')];
    assert.equal(worstOf(rows, []), rolloutStates.approval);
    for (const state of byUrgency)
      assert.equal(worstOf([row('a', 'complete'), row('b', state)], []), rolloutStates[state]);
  });

  it('knows its clusters by what is known of them', () => {
    const silent = [{ cluster: 'shop-10', why: '' }];
    const rows = [row('a', 'complete'), row('b', 'complete')].map((each) => ({ ...each, cluster: 'shop-2' }));
    assert.deepEqual(clustersIn(rows, silent), ['shop-2', 'shop-10']);
    assert.equal(clustersIn([row('a', 'complete')], []), undefined, 'there is one, which has no name here');
  });

  it('says that a cluster is unknown, unless a rollout needs a person more', () => {
    const silent = [{ cluster: 'south', why: 'connect ECONNREFUSED' }];
    for (const rows of [[], [row('a', 'complete')], [row('a', 'running')]])
      assert.deepEqual(worstOf(rows, silent), { tone: 'wait', glyph: '?' });
    assert.equal(worstOf([row('a', 'halted')], silent), rolloutStates.halted);
    const connecting = [{ cluster: 'south', why: '' }];
    assert.equal(worstOf([row('a', 'complete')], connecting), rolloutStates.complete, 'it may answer soon');
  });

  it('counts each rollout in one group of states', () => {
    for (const state of byUrgency)
      assert.equal(
        filters.filter((only) => only !== 'offline' && matches({ state, nodes: {} }, only)).length,
        1,
        state,
      );
    const rows = [row('a', 'halted', { offline: 2 }), row('b', 'error'), row('c', 'clock')];
    assert.deepEqual(
      filters.map((only) => countOf(rows, only)),
      [2, 0, 0, 1, 0, 1],
    );
    assert.equal(matches({ state: 'halted', nodes: {} }, ''), true);
  });

  it('counts progress in nodes that are online', () => {
    assert.equal(percentOf({ nodes: { eligible: 300, online: 200, updated: 199, offline: 100 } }), 99);
    assert.equal(percentOf({ nodes: { eligible: 3, offline: 3 } }), undefined);
    const rows = [row('done', 'complete', { online: 1, updated: 1 }), row('new', 'running', { online: 4, updated: 1 })];
    assert.equal(named(rows.toSorted(orders.progress)), 'new,done');
  });

  it('takes the nodes of the cluster from the rollout with the most of them', () => {
    assert.deepEqual(widest([]), []);
    const rows = [row('a', 'running', { eligible: 2 }), row('b', 'running', { eligible: 9 })];
    assert.equal(named(widest(rows)), 'b');
    const north = rows.map((each) => ({ ...each, cluster: 'north' }));
    assert.equal(named(widest([...north, { ...row('c', 'running', { eligible: 1 }), cluster: 'south' }])), 'b,c');
  });
});
