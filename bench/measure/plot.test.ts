import assert from 'node:assert/strict';
import { it } from 'node:test';
import { drawPlots } from './plot.ts';

const xs = [1, 10, 100].map((at) => ({ at, text: `${at} <nodes>` }));

it('draws what grows as its factor does along the dotted line', () => {
  const picture = drawPlots([{ title: 'Nodes', xs, lines: [[7, 70, 700]] }], ['cost'], 'Costs');
  const [dotted, line] = [...picture.matchAll(/<path d="M([\d. L]+)" stroke="[^"]+" stroke-/g)].map(([, points = '']) =>
    points.split('L'),
  );
  assert.equal(line?.length, 3);
  assert.deepEqual(dotted, [line[0], line[2]]);
});

it('escapes texts', () => {
  const picture = drawPlots([{ title: 'A & B', xs, lines: [[1, 2, 3]] }], ['cost'], 'Costs "all"');
  assert.match(picture, />A &amp; B</);
  assert.match(picture, />10 &lt;nodes></);
  assert.match(picture, /aria-label="Costs &quot;all&quot;"/);
});
