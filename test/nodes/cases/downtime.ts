import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { watchMachine } from '../../../bench/measure/machine.ts';
import { steadyClock } from '../../../src/runtime/index.ts';
import { type AppOptions, deployApp } from '../app.ts';
import type { Site } from '../product.ts';

/** Of the registry, towards each node. */
const BYTES_PER_SECOND = 200_000;
const IMAGE_BYTES = 2_500_000;
const PULL_MS = (IMAGE_BYTES / BYTES_PER_SECOND) * 1000;
const required = { 'edgeset.io/predownload': 'required', 'apps.openyurt.io/max-unavailable': '1' };
const advanced = (rollingUpdate: object) => ({ updateStrategy: { rollingUpdate } });

interface Row {
  what: string;
  options: Pick<AppOptions, 'kind' | 'annotations' | 'spec'>;
  /** How long every node may be without a ready pod. */
  worstMs: readonly [least: number, most: number];
}

interface Figures {
  rolloutMs: number;
  downtimesMs: readonly number[];
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** Two-node rollouts of an image of 2.5 MB behind a slow registry: how long is a node without a ready pod? */
export const downtime = (site: Site, nodes: readonly string[]): void => {
  // Termination and start take a second or two; a busy machine makes that more.
  const withoutPull = [0, PULL_MS * 0.8] as const;
  const rows: readonly Row[] = [
    { what: 'native, RollingUpdate', options: { kind: 'native' }, worstMs: [PULL_MS, Infinity] },
    {
      what: 'edgeset, pulled ahead',
      options: { annotations: required },
      worstMs: withoutPull,
    },
    {
      what: 'edgeset, pulled ahead, in place',
      options: {
        kind: 'advanced',
        annotations: required,
        spec: advanced({ rollingUpdateType: 'InPlaceIfPossible', maxUnavailable: 1 }),
      },
      worstMs: withoutPull,
    },
    {
      what: 'edgeset, surge',
      options: { kind: 'advanced', spec: advanced({ rollingUpdateType: 'Surging' }) },
      worstMs: [0, 0],
    },
  ];
  const figures = new Map<string, Figures>();
  let howBusy = (): string => '';
  before(() => {
    howBusy = watchMachine();
  });

  const measure = async ({ what, options, worstMs: [least, most] }: Row): Promise<void> => {
    const id = what.replaceAll(/[^a-z]+/g, '-');
    const app = await deployApp({
      cluster: site.cluster,
      name: `downtime-${id}`,
      nodes,
      image: site.cluster.images.add(`quick-${id}:v1`),
      ...options,
    });
    const image = site.cluster.images.add(`slow-${id}:v2`, IMAGE_BYTES);
    site.cluster.slow(`slow-${id}`, BYTES_PER_SECOND);
    const from = steadyClock.now();
    await app.change({ image });
    await app.untilRunning(image, nodes, 120_000);
    const rolloutMs = steadyClock.now() - from;
    const downtimesMs = nodes.map((node) => app.timeline.downtimes().get(node) ?? 0);
    figures.set(what, { rolloutMs, downtimesMs });
    await app.remove();
    const worst = Math.max(...downtimesMs);
    assert.ok(least <= worst && worst <= most, `${seconds(worst)} without a ready pod`);
  };

  for (const row of rows) it(row.what, () => measure(row));

  after(() => {
    const line = (...cells: string[]): string =>
      cells.map((cell, index) => cell.padEnd(index === 0 ? 34 : 16)).join('');
    const lines = rows.flatMap(({ what }) => {
      const found = figures.get(what);
      return found ? [line(what, seconds(found.rolloutMs), found.downtimesMs.map(seconds).join(', '))] : [];
    });
    console.log([line('two nodes, 200 kB/s', 'rollout', 'without a ready pod'), ...lines, `(${howBusy()})`].join('\n'));
  });
};
