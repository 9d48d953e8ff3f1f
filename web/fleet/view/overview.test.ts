import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { byUrgency, type RolloutState } from '../types.ts';
import { countOf, filters, matches, orders, percentOf, widest, worstState } from './overview.ts';

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
    assert.equal(worstState([]), undefined);
    assert.equal(worstState([row('a', 'complete'), row('b', 'running'), row('c', 'approval')]), 'approval');
    for (const state of byUrgency) assert.equal(worstState([row('a', 'complete'), row('b', state)]), state);
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
    assert.equal(widest([]), undefined);
    assert.equal(widest([row('a', 'running', { eligible: 2 }), row('b', 'running', { eligible: 9 })])?.name, 'b');
  });
});
