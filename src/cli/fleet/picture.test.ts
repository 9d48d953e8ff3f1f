import assert from 'node:assert/strict';
import { test } from 'node:test';
import { phases } from '../../words/index.ts';
import { drawPicture } from './picture.ts';
import { emptySnapshot, type Snapshot } from './snapshot.ts';

const snapshot = (count: number): Snapshot => ({
  ...emptySnapshot,
  nodes: Array.from({ length: count }, (_, index) => ({
    name: `shop-${index}`,
    phase: phases[index % phases.length],
    image: 'till:2',
  })),
  counts: Object.fromEntries(phases.map((phase) => [phase, Math.ceil(count / phases.length)])),
  budget: { inUse: 3, limit: 4 },
});

for (const count of [1, 9, 40, 400, 1000])
  test(`${count} nodes have a cell each, all within the picture`, () => {
    const picture = drawPicture([{ caption: 'One', snapshot: snapshot(count) }]);
    assert.equal(picture.match(/<title>shop-\d+: /g)?.length, count);
    const [, width = 0, height = 0] = (/viewBox="0 0 (\d+) (\d+)"/.exec(picture) ?? []).map(Number);
    for (const [, x, y, w, h] of picture.matchAll(
      /<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/g,
    )) {
      assert.ok(Number(x) + Number(w) <= width, `${x} + ${w}`);
      assert.ok(Number(y) + Number(h) <= height, `${y} + ${h}`);
    }
  });

test('a halted rollout says how many nodes failed', () => {
  const picture = drawPicture([{ caption: 'Stopped', snapshot: { ...snapshot(9), halted: true } }]);
  assert.match(picture, /1 of 9 nodes failed/);
});

test('text is escaped, and numbers are valid', () => {
  const picture = drawPicture([{ caption: 'A <b> & "c"', snapshot: snapshot(40) }]);
  assert.match(picture, /A &lt;b&gt; &amp; &quot;c&quot;/);
  assert.doesNotMatch(picture, /NaN|Infinity|undefined/);
});
