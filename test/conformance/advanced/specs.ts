/** Specs of Advanced DaemonSets, each with the verdict that it must get: an answer, or the field and words of a refusal. */

import type { Verdict } from '../kit/index.ts';

export type Json = Record<string, unknown>;

export interface SpecCase extends Verdict {
  name: string;
  spec: Json;
  /** Default: v1alpha1, as in OpenKruise's own documents. */
  version?: 'v1alpha1' | 'v1beta1';
}

const containers = [{ name: 'main', image: 'app:v1' }];
const selector = { matchLabels: { app: 'main' } };
const template = { metadata: { labels: { app: 'main' } }, spec: { containers } };
const base = { selector, template };

const rolling = (rollingUpdate: Json): Json => ({ ...base, updateStrategy: { rollingUpdate } });
const pod = (spec: Json): Json => ({ ...base, template: { ...template, spec: { containers, ...spec } } });
const selecting = (labelSelector: Json, labels: Json = { app: 'main' }): Json => ({
  selector: labelSelector,
  template: { ...template, metadata: { labels } },
});
const expression = (operator: string, values?: readonly string[], key = 'app'): Json => ({
  matchExpressions: [{ key, operator, ...(values && { values }) }],
});

/** Clients of OpenKruise read these fields without a check that `rollingUpdate` is there. */
const rollingUpdateDefault = {
  rollingUpdateType: 'Standard',
  partition: 0,
  paused: false,
  maxUnavailable: undefined,
  maxSurge: undefined,
};

const UPDATE = 'spec.updateStrategy.rollingUpdate';
const SHARE = 'or a percentage from 0% to 100%';
const BOTH = 'set maxUnavailable or maxSurge to 0';
const NEITHER = 'set maxUnavailable or maxSurge to at least 1';

export const specCases: readonly SpecCase[] = [
  // What seed and documents of OpenKruise show, completed with selector and template.
  { name: 'nothing but selector and template', spec: base },
  { name: 'the same in v1beta1', spec: base, version: 'v1beta1' },
  {
    name: 'rollingUpdateType Standard',
    spec: { ...base, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { rollingUpdateType: 'Standard' } } },
  },
  { name: 'a selector of nodes', spec: rolling({ selector: { matchLabels: { nodeType: 'canary' } } }) },
  {
    name: 'a partition',
    spec: rolling({ partition: 10 }),
    stored: { updateStrategy: { rollingUpdate: { partition: 10 } } },
  },
  { name: 'paused', spec: rolling({ paused: true }) },
  {
    name: 'a hook by label',
    spec: { ...base, lifecycle: { preDelete: { labelsHandler: { 'example.io/block-deleting': 'true' } } } },
  },
  {
    name: 'a hook by finalizer that takes the pod out of service',
    spec: {
      ...base,
      lifecycle: { preDelete: { markPodNotReady: true, finalizersHandler: ['example.io/unready-blocker'] } },
    },
  },
  {
    name: 'Surging in v1alpha1',
    spec: rolling({ rollingUpdateType: 'Surging' }),
    stored: { updateStrategy: { rollingUpdate: { rollingUpdateType: 'Surging' } } },
  },
  {
    name: 'Surging in v1beta1, read back as written',
    spec: rolling({ rollingUpdateType: 'Surging' }),
    version: 'v1beta1',
    stored: { updateStrategy: { rollingUpdate: { rollingUpdateType: 'Surging' } } },
  },
  { name: 'InPlaceIfPossible', spec: rolling({ rollingUpdateType: 'InPlaceIfPossible' }) },

  // Defaults that are stored, and those that are not.
  {
    name: 'fixed defaults are stored',
    spec: base,
    stored: {
      minReadySeconds: 0,
      revisionHistoryLimit: 10,
      burstReplicas: 250,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: rollingUpdateDefault },
    },
  },
  {
    name: 'the fixed defaults of rollingUpdate are stored in v1beta1 too, with an empty updateStrategy',
    spec: { ...base, updateStrategy: {} },
    version: 'v1beta1',
    stored: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: rollingUpdateDefault } },
  },
  {
    name: 'and with OnDelete',
    spec: { ...base, updateStrategy: { type: 'OnDelete' } },
    stored: { updateStrategy: { type: 'OnDelete', rollingUpdate: rollingUpdateDefault } },
  },
  {
    name: 'defaults that depend on other fields are not stored',
    spec: rolling({ maxSurge: 2 }),
    stored: {
      updateStrategy: {
        rollingUpdate: {
          maxSurge: 2,
          maxUnavailable: undefined,
          rollingUpdateType: 'Standard',
          partition: 0,
          paused: false,
        },
      },
    },
  },
  {
    name: 'progressive creation',
    spec: { ...base, scaleStrategy: { partitionedScaling: true } },
    stored: { scaleStrategy: { partitionedScaling: true } },
  },
  {
    name: 'markPodNotReady is off unless said',
    spec: { ...base, lifecycle: { preDelete: { labelsHandler: { a: 'b' } } } },
    stored: { lifecycle: { preDelete: { markPodNotReady: false } } },
  },

  // Selector and template.
  { name: 'no selector', spec: { template }, refused: ['spec.selector', 'Required value'] },
  { name: 'no template', spec: { selector }, refused: ['spec.template', 'Required value'] },
  { name: 'an empty selector', spec: selecting({}), refused: ['spec.selector', 'set matchLabels or matchExpressions'] },
  {
    name: 'a selector of empty matchLabels',
    spec: selecting({ matchLabels: {} }),
    refused: ['spec.selector', 'set matchLabels or matchExpressions'],
  },
  {
    name: 'a selector of empty matchExpressions',
    spec: selecting({ matchExpressions: [] }),
    refused: ['spec.selector', 'set matchLabels or matchExpressions'],
  },
  {
    name: 'a selector that the template does not match',
    spec: selecting({ matchLabels: { app: 'other' } }),
    refused: ['spec.template', 'must match the labels'],
  },
  {
    name: 'a selector of a label that the template lacks',
    spec: selecting({ matchLabels: { app: 'main', tier: 'edge' } }),
    refused: ['spec.template', 'must match the labels'],
  },
  {
    name: 'a template without labels',
    spec: { selector, template: { spec: { containers } } },
    refused: ['spec.template', 'must match the labels'],
  },
  { name: 'a selector with In that matches', spec: selecting(expression('In', ['main', 'other'])) },
  {
    name: 'a selector with In that does not',
    spec: selecting(expression('In', ['other'])),
    refused: ['spec.template', 'must match the labels'],
  },
  { name: 'a selector with Exists that matches', spec: selecting(expression('Exists')) },
  {
    name: 'a selector with Exists that does not',
    spec: selecting(expression('Exists', undefined, 'tier')),
    refused: ['spec.template', 'must match the labels'],
  },
  { name: 'a selector with NotIn that matches', spec: selecting(expression('NotIn', ['other'])) },
  {
    name: 'a selector with NotIn that does not',
    spec: selecting(expression('NotIn', ['main'])),
    refused: ['spec.template', 'must match the labels'],
  },
  { name: 'a selector with DoesNotExist that matches', spec: selecting(expression('DoesNotExist', undefined, 'tier')) },
  {
    name: 'a selector with DoesNotExist that does not',
    spec: selecting(expression('DoesNotExist')),
    refused: ['spec.template', 'must match the labels'],
  },
  {
    name: 'In without values',
    spec: selecting(expression('In', [])),
    refused: ['spec.selector.matchExpressions[0].values', 'at least one value'],
  },
  {
    name: 'Exists with values',
    spec: selecting(expression('Exists', ['main'])),
    refused: ['spec.selector.matchExpressions[0].values', 'DoesNotExist take none'],
  },
  {
    name: 'an operator that there is not',
    spec: selecting(expression('Like', ['main'])),
    refused: ['spec.selector.matchExpressions[0].operator', 'Unsupported value'],
  },
  { name: 'no containers', spec: pod({ containers: [] }), refused: ['spec.template.spec.containers', 'at least 1'] },
  {
    name: 'two containers of one name',
    spec: pod({ containers: [...containers, ...containers] }),
    refused: ['spec.template.spec.containers[1]', 'Duplicate value'],
  },
  { name: 'restartPolicy Always', spec: pod({ restartPolicy: 'Always' }) },
  {
    name: 'restartPolicy Never',
    spec: pod({ restartPolicy: 'Never' }),
    refused: ['spec.template.spec.restartPolicy', 'omit restartPolicy'],
  },
  {
    name: 'restartPolicy OnFailure',
    spec: pod({ restartPolicy: 'OnFailure' }),
    refused: ['spec.template.spec.restartPolicy', 'omit restartPolicy'],
  },
  {
    name: 'activeDeadlineSeconds',
    spec: pod({ activeDeadlineSeconds: 10 }),
    refused: ['spec.template.spec.activeDeadlineSeconds', 'omit activeDeadlineSeconds'],
  },
  {
    name: 'fields of a template that no rule knows are kept',
    spec: pod({
      hostNetwork: true,
      initContainers: [{ name: 'side', image: 'side:1', restartPolicy: 'Always' }],
      tolerations: [{ operator: 'Exists' }],
    }),
    stored: {
      template: {
        spec: {
          hostNetwork: true,
          initContainers: [{ name: 'side', image: 'side:1', restartPolicy: 'Always' }],
          tolerations: [{ operator: 'Exists' }],
        },
      },
    },
  },

  // Numbers and shares.
  { name: 'minReadySeconds', spec: { ...base, minReadySeconds: 30 } },
  {
    name: 'a negative minReadySeconds',
    spec: { ...base, minReadySeconds: -1 },
    refused: ['spec.minReadySeconds', 'greater than or equal to 0'],
  },
  { name: 'a revisionHistoryLimit of 0', spec: { ...base, revisionHistoryLimit: 0 } },
  {
    name: 'a negative revisionHistoryLimit',
    spec: { ...base, revisionHistoryLimit: -1 },
    refused: ['spec.revisionHistoryLimit', 'greater than or equal to 0'],
  },
  { name: 'burstReplicas as a percentage', spec: { ...base, burstReplicas: '10%' } },
  {
    name: 'burstReplicas of 0',
    spec: { ...base, burstReplicas: 0 },
    refused: ['spec.burstReplicas', 'integer of at least 1'],
  },
  {
    name: 'burstReplicas of 0%',
    spec: { ...base, burstReplicas: '0%' },
    refused: ['spec.burstReplicas', 'from 1% to 100%'],
  },
  {
    name: 'negative burstReplicas',
    spec: { ...base, burstReplicas: -5 },
    refused: ['spec.burstReplicas', 'integer of at least 1'],
  },
  {
    name: 'burstReplicas that are no number',
    spec: { ...base, burstReplicas: 'many' },
    refused: ['spec.burstReplicas', 'integer of at least 1'],
  },
  { name: 'a partition as a percentage', spec: rolling({ partition: '50%' }) },
  { name: 'a partition of all', spec: rolling({ partition: '100%' }) },
  { name: 'a negative partition', spec: rolling({ partition: -1 }), refused: [`${UPDATE}.partition`, SHARE] },
  { name: 'a partition above 100%', spec: rolling({ partition: '101%' }), refused: [`${UPDATE}.partition`, SHARE] },
  {
    name: 'a partition with a fraction',
    spec: rolling({ partition: '1.5%' }),
    refused: [`${UPDATE}.partition`, SHARE],
  },

  // maxUnavailable and maxSurge.
  { name: 'maxUnavailable as a number', spec: rolling({ maxUnavailable: 3 }) },
  { name: 'maxUnavailable as a percentage', spec: rolling({ maxUnavailable: '30%' }) },
  { name: 'maxUnavailable of 100%', spec: rolling({ maxUnavailable: '100%' }) },
  {
    name: 'maxUnavailable above 100%',
    spec: rolling({ maxUnavailable: '101%' }),
    refused: [`${UPDATE}.maxUnavailable`, SHARE],
  },
  {
    name: 'a negative maxUnavailable',
    spec: rolling({ maxUnavailable: -1 }),
    refused: [`${UPDATE}.maxUnavailable`, SHARE],
  },
  {
    name: 'maxUnavailable that is no share',
    spec: rolling({ maxUnavailable: '10' }),
    refused: [`${UPDATE}.maxUnavailable`, SHARE],
  },
  {
    name: 'maxUnavailable that is neither number nor text',
    spec: rolling({ maxUnavailable: true }),
    refused: [`${UPDATE}.maxUnavailable`, 'integer,string'],
  },
  {
    name: 'maxUnavailable of 0 and no maxSurge',
    spec: rolling({ maxUnavailable: 0 }),
    refused: [`${UPDATE}.maxUnavailable`, NEITHER],
  },
  {
    name: 'maxUnavailable of 0% and maxSurge of 0%',
    spec: rolling({ maxUnavailable: '0%', maxSurge: '0%' }),
    refused: [`${UPDATE}.maxUnavailable`, NEITHER],
  },
  { name: 'only maxSurge', spec: rolling({ maxSurge: 1 }) },
  {
    name: 'maxSurge of 0 alone takes nothing down',
    spec: rolling({ maxSurge: 0 }),
    refused: [`${UPDATE}.maxUnavailable`, NEITHER],
  },
  { name: 'maxSurge with maxUnavailable of 0', spec: rolling({ maxSurge: '20%', maxUnavailable: 0 }) },
  { name: 'maxUnavailable with maxSurge of 0', spec: rolling({ maxSurge: 0, maxUnavailable: 2 }) },
  { name: 'both', spec: rolling({ maxSurge: 1, maxUnavailable: 1 }), refused: [`${UPDATE}.maxSurge`, BOTH] },
  {
    name: 'both as percentages',
    spec: rolling({ maxSurge: '10%', maxUnavailable: '10%' }),
    refused: [`${UPDATE}.maxSurge`, BOTH],
  },
  { name: 'maxSurge above 100%', spec: rolling({ maxSurge: '101%' }), refused: [`${UPDATE}.maxSurge`, SHARE] },
  {
    name: 'Surging with maxUnavailable',
    spec: rolling({ rollingUpdateType: 'Surging', maxUnavailable: 1 }),
    refused: [`${UPDATE}.maxSurge`, BOTH],
  },
  { name: 'Surging with maxUnavailable of 0', spec: rolling({ rollingUpdateType: 'Surging', maxUnavailable: 0 }) },
  { name: 'Surging with its own maxSurge', spec: rolling({ rollingUpdateType: 'Surging', maxSurge: '30%' }) },
  {
    name: 'Surging with maxSurge of 0',
    spec: rolling({ rollingUpdateType: 'Surging', maxSurge: 0 }),
    refused: [`${UPDATE}.maxUnavailable`, NEITHER],
  },
  {
    name: 'InPlaceIfPossible with maxUnavailable',
    spec: rolling({ rollingUpdateType: 'InPlaceIfPossible', maxUnavailable: '10%' }),
  },
  {
    name: 'InPlaceIfPossible with maxSurge of 0',
    spec: rolling({ rollingUpdateType: 'InPlaceIfPossible', maxSurge: 0, maxUnavailable: 1 }),
  },
  {
    name: 'InPlaceIfPossible with maxSurge',
    spec: rolling({ rollingUpdateType: 'InPlaceIfPossible', maxSurge: 1 }),
    refused: [`${UPDATE}.maxSurge`, 'omit maxSurge'],
  },
  {
    name: 'a rollingUpdateType that there is not',
    spec: rolling({ rollingUpdateType: 'Fast' }),
    refused: [`${UPDATE}.rollingUpdateType`, 'Unsupported value'],
  },
  { name: 'OnDelete', spec: { ...base, updateStrategy: { type: 'OnDelete' } } },
  {
    name: 'OnDelete with settings for later',
    spec: { ...base, updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: 2 } } },
  },
  {
    name: 'a strategy that there is not',
    spec: { ...base, updateStrategy: { type: 'Recreate' } },
    refused: ['spec.updateStrategy.type', 'Unsupported value'],
  },
  { name: 'paused that is no boolean', spec: rolling({ paused: 'true' }), refused: [`${UPDATE}.paused`, 'boolean'] },

  // Hooks.
  {
    name: 'a hook before an update in place',
    spec: { ...base, lifecycle: { inPlaceUpdate: { finalizersHandler: ['a.io/b'] } } },
    refused: ['spec.lifecycle.inPlaceUpdate', 'remove inPlaceUpdate'],
  },
  {
    name: 'an empty finalizer',
    spec: { ...base, lifecycle: { preDelete: { finalizersHandler: [''] } } },
    refused: ['spec.lifecycle.preDelete.finalizersHandler[0]', 'at least 1 char'],
  },
];
