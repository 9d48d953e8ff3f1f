import type { Mutant } from './mutant.ts';
import { test } from './plans.ts';

/** What would pull images ahead onto full disks, or over and over. */
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
  {
    name: 'a-list-that-lags-counts-as-a-deletion',
    whose: 'our own',
    story: 'images are pulled again because the kubelet has not listed them yet',
    breaks: [],
    file: 'src/rollout/node/images.ts',
    find: "imagesListed && node?.images === 'not-all'",
    replace: "node?.images === 'not-all' || (imagesListed && false)",
    hunt: test('src/rollout/node/images.test.ts'),
  },
  {
    name: 'an-update-goes-on-without-deleted-images',
    whose: 'our own, S11',
    story: 'a pod is updated although the kubelet has deleted the images that are required',
    breaks: [],
    file: 'src/rollout/node/images.ts',
    find: 'const isPresent = arePresent(images, context) && !areDeleted(record);',
    replace: 'const isPresent = arePresent(images, context);',
    hunt: test('src/rollout/node/images.test.ts'),
  },
  {
    name: 'deleted-images-are-pulled-in-a-loop',
    whose: 'our own',
    story: 'a disk without room loses an image after each pull, and it is pulled again each time',
    breaks: [],
    file: 'src/prefetch/pull-control.ts',
    find: 'const MAX_DELETIONS = 2;',
    replace: 'const MAX_DELETIONS = 2000;',
    hunt: test('src/prefetch/prefetch.test.ts'),
  },
];
