import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { count } from '../policy/int-or-percent.ts';
import { benchAt, type Workbench } from '../testing/workbench.ts';

describe('the reason of an action', () => {
  it('says why a node is updated', () => {
    const bench = benchAt(2, { maxUnavailable: count(2) });
    bench.change('n1', { ready: false });
    assert.deepEqual(bench.reasons(), ['reserve: down', 'reserve: outdated']);
    bench.reserve('n0');
    assert.ok(bench.reasons().includes('delete: outdated'));
    bench.change('n0', { detail: 'x' });
    assert.ok(bench.reasons().includes('reserve: pod-changed'));
    bench.deletePod('n1');
    bench.start('n1', 'b', { ready: false });
    bench.target('c');
    assert.ok(bench.reasons().includes('reserve: broken'));
  });

  it('says what keeps a reserved update from being carried out', () => {
    const reasons = (change: (bench: Workbench) => void): string | undefined => {
      const bench = benchAt(3);
      bench.reserve('n0');
      change(bench);
      return bench.reasons()[0];
    };
    assert.equal(
      reasons((bench) => bench.policy({ paused: true })),
      'release: held',
    );
    assert.equal(
      reasons((bench) => bench.policy({ partition: count(1) })),
      'release: partition',
    );
    assert.equal(
      reasons((bench) => bench.offline('n0')),
      'release: not-settled',
    );
    assert.equal(
      reasons((bench) => bench.node('n0', { selected: false })),
      'release: node-selector',
    );
    assert.equal(
      reasons((bench) => bench.target('c')),
      'release: other-target',
    );
  });
});
