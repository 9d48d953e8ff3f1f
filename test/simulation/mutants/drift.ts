import type { Mutant } from './mutant.ts';
import { at, history, release, test } from './plans.ts';

/** Half of the nodes pull a tag once it has been pushed again. Their pods are deleted in the end. */
const pushedAgain = history(
  { nodes: 6, minReadySeconds: 5, onImageDrift: 'halt' },
  at(5, { do: 'content', node: 'node-0', content: 'pushed again' }),
  at(5, { do: 'content', node: 'node-1', content: 'pushed again' }),
  at(5, { do: 'content', node: 'node-2', content: 'pushed again' }),
  release(10),
  at(60, { do: 'recover' }),
);

/** What would miss that nodes run different content under the name of one image, or would say so of nodes that do not. */
export const drift: readonly Mutant[] = [
  {
    name: 'drift-across-architectures',
    whose: 'our own',
    story: 'IDs of nodes of different architectures are compared, each of which has an image of its own',
    breaks: ['S16'],
    file: 'src/rollout/fleet/image-drift.ts',
    find: 'const key = `${arch}\\n${source}\\n${image}`;',
    replace: 'const key = `${source}\\n${image}`;',
    hunt: history(
      { nodes: 6, minReadySeconds: 5 },
      at(5, { do: 'content', node: 'node-0', content: 'arm', arch: 'arm64' }),
      at(5, { do: 'content', node: 'node-1', content: 'arm', arch: 'arm64' }),
      release(10),
    ),
  },
  {
    name: 'drift-halt-ignored',
    whose: 'our own',
    story: 'on-image-drift: halt only reports that images differ',
    breaks: ['S9'],
    file: 'src/rollout/decision/transition.ts',
    find: "policy.onImageDrift === 'halt' && policy.strategy",
    replace: "policy.onImageDrift !== 'halt' && policy.strategy",
    hunt: pushedAgain,
  },
  {
    name: 'drift-halt-for-ever',
    whose: 'our own',
    story: 'a rollout that was halted since images differed stays halted once they agree',
    breaks: ['L1'],
    file: 'src/rollout/decision/transition.ts',
    find: "if (haltedForDrift) return { type: 'end-halt', because: 'images-agree' };",
    replace: 'if (haltedForDrift) return undefined;',
    hunt: pushedAgain,
  },
  {
    name: 'drift-never-forgiven',
    whose: 'our own',
    story: 'a rollout that was resumed is halted for the same images again',
    breaks: [],
    file: 'src/rollout/decision/transition.ts',
    find: ' && !state.driftForgiven;',
    replace: ';',
    hunt: test('src/rollout/decision/image-drift.test.ts', 'goes on when the user resumes'),
  },
  {
    name: 'drift-across-sources',
    whose: 'our own',
    story:
      'the digest of a manifest is compared with that of a configuration, as kubelets of other versions or runtimes report it',
    breaks: [],
    file: 'src/rollout/facts/image-reports.ts',
    find: 'const source = sourceOf(id.repository, container);',
    replace: "const source = '';",
    hunt: test('src/rollout/facts/image-reports.test.ts', 'CRI-O apart'),
  },
  {
    name: 'drift-of-a-stale-status',
    whose: 'our own',
    story: 'a container that its in-place update has not restarted yet counts with the image of the revision before',
    breaks: [],
    file: 'src/rollout/facts/image-reports.ts',
    find: '= withoutStaleStatuses(pod);',
    replace: '= (withoutStaleStatuses(pod), pod);',
    hunt: test('src/rollout/facts/image-reports.test.ts', 'has not restarted yet'),
  },
];
