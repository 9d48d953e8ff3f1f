import type { Mutant } from './mutant.ts';
import { at, history, recreate, release, test } from './plans.ts';

/** Defects that this product had, or that only its own parts can have. */
export const own: readonly Mutant[] = [
  {
    name: 'the-machines-clock',
    whose: 'our own',
    story: 'a clock that is set forward makes pods look available',
    breaks: [],
    file: 'src/runtime/clock.ts',
    find: 'now: () => performance.timeOrigin + performance.now() };',
    replace: 'now: () => Date.now() };',
    hunt: test('src/runtime/clock.test.ts'),
  },
  {
    name: 'a-caller-in-time-wait',
    whose: 'our own: the TIME_WAIT caller',
    story: 'a caller that closes at once leaves a row that says root, and is taken for root',
    breaks: [],
    file: 'src/agent/auth/peer-owner.ts',
    find: 'if (row.established && row.inode !== 0) lookup.uid = row.uid;',
    replace: 'lookup.uid = row.uid;',
    hunt: test('src/agent/auth/peer-owner.test.ts'),
  },
  {
    name: 'creates-beside-a-shown-pod',
    whose: 'our own, S10',
    story: 'a run of creations goes on to nodes where the watch has meanwhile shown a pod',
    breaks: [],
    file: 'src/advanced/placement/create-pods.ts',
    find: 'expectations.has(node) && currentView().generation',
    replace: 'currentView().generation',
    hunt: test('src/advanced/placement/create-pods.test.ts'),
  },
  {
    name: 'forgets-an-unanswered-creation',
    whose: 'our own, S10',
    story:
      'a creation that was not answered is forgotten, and the node gets a second pod once something else is asked for',
    breaks: ['S10'],
    file: 'src/advanced/placement/create-pods.ts',
    find: 'expectations.mayExist(node, { name, uid: undefined });',
    replace: 'expectations.doesNotExist(node);',
    hunt: history(
      { ...recreate, nodes: 1 },
      release(20, 'app:v2'),
      at(20, { do: 'call-fault', fault: { kind: 'reset-answer' }, of: { verb: 'create', plural: 'pods' } }),
      at(20.739, { do: 'lag', watch: 'pods', ms: 20_000 }),
      release(20.75, 'app:v3'),
    ),
  },
  {
    name: 'knows-nothing-of-who-led-before',
    whose: 'our own, S10',
    story: 'a new leader whose watch is behind creates a pod where the one before has created one',
    breaks: ['S10'],
    file: 'src/advanced/placement/create-pods.ts',
    find: 'expectations.mayExist(facts.node, { name: facts.name, uid: facts.uid });',
    replace: 'expectations.doesNotExist(facts.node);',
    hunt: history(
      { ...recreate, nodes: 1, managers: 2 },
      release(20, 'app:v2'),
      at(20.8, { do: 'lag', watch: 'pods', ms: 25_000 }),
      at(23.9, { do: 'crash', who: 'leader' }),
      release(24, 'app:v3'),
      at(42, { do: 'lag', watch: 'pods', ms: 0 }),
    ),
  },
  {
    name: 'vacant-nodes-take-no-place',
    whose: 'our own, S9',
    story:
      'a node whose pod is going does not count as updated under a partition, though its next pod is of the new version',
    breaks: ['S9'],
    file: 'src/rollout/record/assess.ts',
    find: ' || livePods === 0',
    replace: '',
    hunt: history(
      recreate,
      at(9, { do: 'partition', nodes: 2 }),
      at(20, { do: 'offline', node: 'node-0' }),
      at(80, { do: 'delete-pod', node: 'node-0' }),
      release(90),
      at(150, { do: 'online', node: 'node-0' }),
      at(200, { do: 'partition', nodes: 0 }),
    ),
  },
];
