import type { Mutant } from './mutant.ts';
import { test } from './plans.ts';

/** What would fill disks with images ahead of updates. */
export const pulling: readonly Mutant[] = [
  {
    name: 'pulls-onto-a-full-disk',
    whose: 'our own',
    story: 'images are pulled ahead on a node under DiskPressure',
    breaks: [],
    file: 'src/rollout/facts/node-images.ts',
    find: "if (conditions.includes('DiskPressure'))",
    replace: "if (conditions.includes('MemoryPressure'))",
    hunt: test('src/prefetch/prefetch.test.ts'),
  },
  {
    name: 'one-node-claims-the-size-of-an-image',
    whose: 'our own',
    story: 'a node claims that an image is huge, and no other node pulls it ahead',
    breaks: [],
    file: 'src/rollout/facts/node-images.ts',
    find: '(found.confirmed || found.node === node)',
    replace: 'true',
    hunt: test('src/rollout/facts/node-images.test.ts'),
  },
];
