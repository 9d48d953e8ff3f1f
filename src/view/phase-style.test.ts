import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  differenceEuclidean,
  filterDeficiencyDeuter,
  filterDeficiencyProt,
  filterDeficiencyTrit,
  parse,
  wcagContrast,
} from 'culori';
import { type Phase, phases } from '../words/index.ts';
import { MARK_BOX, phaseMark } from './phase-mark.ts';
import { phaseStyles } from './phase-style.ts';

type Rgb = ReturnType<typeof rgb>;
const rgb = (text: string) => {
  const color = parse(text);
  assert.equal(color?.mode, 'rgb', text);
  return { ...color, mode: 'rgb' as const };
};

const visions: Readonly<Record<string, (color: Rgb) => Rgb>> = {
  normal: (color) => color,
  protan: filterDeficiencyProt(1),
  deutan: filterDeficiencyDeuter(1),
  tritan: filterDeficiencyTrit(1),
};

const between = differenceEuclidean('oklab');
/** Of OKLab, in percent: cells that lie side by side are told apart at a glance. */
const LEAST = 12;
const TEXT_CONTRAST = 4.5;

/** Pairs that share a color, or nearly do, and why they are told apart all the same. */
const toldApartByForm: readonly (readonly [Phase, Phase, string])[] = [
  ['updating', 'settling', 'one color: a fill, and an outline'],
  ['outdated', 'held', 'one color: plain, and with stripes'],
  ['failed', 'offline', 'a fill, and a dashed border'],
  ['updating', 'offline', 'a fill, and a dashed border'],
  ['settling', 'offline', 'a thick border, and a thin dashed one'],
];

const pairs = phases.flatMap((a, index) => phases.slice(index + 1).map((b) => [a, b] as const));

const schemes = ['light', 'dark'] as const;

/** The smallest distance of all kinds of vision. */
const closest = (a: Phase, b: Phase, scheme: (typeof schemes)[number]): [distance: number, vision: string] => {
  const distances = Object.entries(visions).map(([vision, see]): [number, string] => [
    100 * between(see(rgb(phaseStyles[a][scheme].color)), see(rgb(phaseStyles[b][scheme].color))),
    vision,
  ]);
  return distances.toSorted(([x], [y]) => x - y)[0] ?? [0, ''];
};

for (const scheme of schemes) {
  test(`every pair of phases differs for every kind of color vision, ${scheme}`, () => {
    for (const [a, b] of pairs) {
      if (toldApartByForm.some(([x, y]) => (x === a && y === b) || (x === b && y === a))) continue;
      const [distance, vision] = closest(a, b, scheme);
      assert.ok(distance >= LEAST, `${a} and ${b} differ by ${distance.toFixed(1)} for ${vision} vision`);
    }
  });

  test(`the text on each color is legible, ${scheme}`, () => {
    for (const phase of phases) {
      const { color, ink } = phaseStyles[phase][scheme];
      assert.ok(wcagContrast(color, ink) >= TEXT_CONTRAST, `${phase}: ${wcagContrast(color, ink).toFixed(2)}`);
    }
  });
}

test('only pairs whose colors are close are told apart by their forms', () => {
  for (const [a, b, why] of toldApartByForm) {
    assert.notEqual(phaseStyles[a].form, phaseStyles[b].form, why);
    assert.ok(
      schemes.some((scheme) => closest(a, b, scheme)[0] < LEAST),
      `the colors of ${a} and ${b} differ`,
    );
  }
});

test('glyphs alone tell the phases apart, in every terminal', () => {
  for (const key of ['glyph', 'ascii', 'path'] as const)
    assert.equal(new Set(phases.map((phase) => phaseStyles[phase][key])).size, phases.length, key);
  for (const phase of phases) assert.match(phaseStyles[phase].ascii, /^[!-~]$/);
});

test('a cell shows its glyph where there is room', () => {
  const layers = (phase: Phase, px: number): number =>
    phaseMark(phase, px).filter(({ d }) => d === phaseStyles[phase].path).length;
  assert.deepEqual(
    [11, 12].map((px) => layers('failed', px)),
    [0, 1],
  );
  assert.deepEqual(
    [19, 20].map((px) => layers('updated', px)),
    [0, 1],
  );
  assert.equal(layers('outdated', 44), 0);
});

test('borders have their thickness in pixels, but leave a small cell hollow', () => {
  const widthOf = (phase: Phase, px: number): number => ((phaseMark(phase, px)[0]?.width ?? 0) * px) / MARK_BOX;
  assert.equal(widthOf('settling', 30), 3);
  assert.ok(widthOf('settling', 6) < 1.5);
});
