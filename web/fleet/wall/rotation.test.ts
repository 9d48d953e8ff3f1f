import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RolloutRow } from '../types.ts';
import { nextOnWall } from './rotation.ts';

const row = (name: string, state: RolloutRow['state'], namespace = 'shop'): RolloutRow => ({
  namespace,
  name,
  kind: 'ds',
  state,
  status: '',
  why: '',
  target: '',
  version: { from: '', to: '', changed: 0, images: [] },
  strategy: 'auto',
  nodes: {},
  budget: { inUse: 0, limit: 0 },
});

describe('a wall', () => {
  it('shows what needs a person first, each in turn, and what is complete never', () => {
    const rows = [row('web', 'running'), row('done', 'complete'), row('till', 'halted'), row('web', 'running', 'van')];
    const seen: string[] = [];
    let shown: RolloutRow | undefined;
    for (let turn = 0; turn < 4; turn += 1) {
      shown = nextOnWall(rows, shown);
      seen.push(`${shown?.namespace}/${shown?.name}`);
    }
    assert.deepEqual(seen, ['shop/till', 'shop/web', 'van/web', 'shop/till']);
  });

  it('begins again after a rollout that is complete by now, or gone', () => {
    const rows = [row('web', 'running')];
    assert.equal(nextOnWall(rows, row('done', 'complete'))?.name, 'web');
    assert.equal(nextOnWall(rows, row('web', 'running'))?.name, 'web', 'the only one stays');
  });

  it('has nothing to show if all are complete', () => {
    assert.equal(nextOnWall([row('done', 'complete')], undefined), undefined);
    assert.equal(nextOnWall([], undefined), undefined);
  });
});
