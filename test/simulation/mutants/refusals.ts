import type { Mutant } from './mutant.ts';
import { test } from './plans.ts';

/** What the API server refuses for good. */
export const refusals: readonly Mutant[] = [
  {
    name: 'out-of-service-before-asked',
    whose: 'our own: a LimitRange, or an admission policy, that refuses resizes',
    story: 'a pod leaves service for a resize that the API server then refuses',
    breaks: [],
    file: 'src/kinds/advanced/podcontrol/pod-operations.ts',
    find: 'const refused = resize && (await review.ask(current, node, pod, resize.body, signal));',
    replace: 'const refused = resize && undefined;',
    hunt: test('src/kinds/advanced/podcontrol/resize-review.test.ts'),
  },
  {
    name: 'labelled-before-resized',
    whose: 'our own: a policy that comes after the dry run',
    story: 'a pod carries the label of a revision whose amounts the API server refuses it',
    breaks: [],
    file: 'src/kinds/advanced/inplace/step.ts',
    find: 'const resize = disrupts ? resizePatch(pod, resources) : undefined;',
    replace: 'const resize = disrupts ? resizePatch(pod, {}) : undefined;',
    hunt: test('src/kinds/advanced/podcontrol/resize-review.test.ts'),
  },
  {
    name: 'recreated-although-refused',
    whose: 'our own: a LimitRange that refuses new pods, too',
    story: 'a pod that may not be resized is deleted, and no new one is accepted',
    breaks: [],
    file: 'src/kinds/advanced/podcontrol/resize-review.ts',
    find: 'if (!isFinal(created)) return created;',
    replace:
      "if (!isFinal(created)) return created;\n      if (created.message) return { kind: 'recreate', reason: '', message: '' };",
    hunt: test('src/kinds/advanced/podcontrol/resize-review.test.ts'),
  },
  {
    name: 'refused-pods-stall-one-object',
    whose: 'our own: a quota',
    story: 'the DaemonRollout says that it continues while the API server refuses every pod',
    breaks: [],
    file: 'src/controller/loop/reconciler.ts',
    find: 'refusal: adapter.refusal?.(),',
    replace: 'refusal: undefined,',
    hunt: test('src/kinds/advanced/placement/refused-pods.test.ts'),
  },
  {
    name: 'misspelled-fields-are-dropped',
    whose: 'our own: livenessProb',
    story: 'a field of the template that the API server does not know is dropped without a word',
    breaks: [],
    file: 'src/kinds/advanced/revisions/defaulted-template.ts',
    find: 'const strict = await dryRun(true);',
    replace: 'const strict = await dryRun(false);',
    hunt: test('src/kinds/advanced/revisions/unknown-fields.test.ts'),
  },
];
