import type { Strategy } from '../kinds/strategy.ts';
import type { Cause } from '../refusal.ts';
import { matchesLabelSelector } from '../select/index.ts';
import { at, equal, type Json, recordOf, textOf } from '../value/index.ts';
import { invalidValue, notSupported, required } from './causes.ts';
import { defaultTemplate } from './pod-defaults.ts';
import { validateTemplateSpec } from './pod-validation.ts';
import { inField, under } from './shaping.ts';

const selectorCauses = (object: Json): Cause[] => {
  const selector = at(object, 'spec', 'selector');
  if (selector !== undefined && Object.keys(recordOf(selector)).length === 0)
    return [invalidValue('spec.selector', selector, 'empty selector is invalid for daemonset')];
  const labels = at(object, 'spec', 'template', 'metadata', 'labels');
  if (matchesLabelSelector(selector, recordOf(labels))) return [];
  return [invalidValue('spec.template.metadata.labels', labels ?? null, '`selector` does not match template `labels`')];
};

const validateTemplate = (object: Json): Cause[] => {
  const template = recordOf(at(object, 'spec', 'template'));
  const spec = recordOf(template.spec);
  const causes = [...selectorCauses(object), ...validateTemplateSpec(template, 'spec.template')];
  const policy = textOf(spec.restartPolicy);
  if (['OnFailure', 'Never'].includes(policy))
    causes.push(notSupported('spec.template.spec.restartPolicy', policy, ['Always']));
  return causes;
};

const selectorIsFixed = (object: Json, previous: Json): Cause[] => {
  const selector = at(object, 'spec', 'selector');
  return equal(selector, at(previous, 'spec', 'selector'))
    ? []
    : [invalidValue('spec.selector', selector, 'field is immutable')];
};

/** What Go's structs have always: a spec with a template with a spec. */
const withTemplate = (object: Json): Json =>
  inField(under(object, { spec: {} }), 'spec', (spec) =>
    inField(under(spec, { template: {} }), 'template', (template) => under(template, { spec: {} })),
  );

const keepStatus = (object: Json, previous: Json): Json => ({ ...object, status: previous.status });
const writeStatus = (previous: Json, sent: Json): Json => ({ ...sent, spec: previous.spec });

const GENERATION = 'deprecated.daemonset.template.generation';

const withTemplateGeneration = (daemonSet: Json, generation: number): Json =>
  inField(daemonSet, 'metadata', (metadata) => {
    const annotations = recordOf(metadata.annotations);
    const text = String(generation);
    return annotations[GENERATION] === text
      ? metadata
      : { ...metadata, annotations: { ...annotations, [GENERATION]: text } };
  });

const daemonSetCounts = {
  currentNumberScheduled: 0,
  desiredNumberScheduled: 0,
  numberMisscheduled: 0,
  numberReady: 0,
};

const daemonSetUpdate = (strategy: Json): Json => {
  const typed = under(strategy, { type: 'RollingUpdate' });
  if (typed.type !== 'RollingUpdate') return typed;
  return { ...typed, rollingUpdate: under(recordOf(typed.rollingUpdate), { maxSurge: 0, maxUnavailable: 1 }) };
};

const daemonSetStrategyCauses = (object: Json): Cause[] => {
  const strategy = recordOf(at(object, 'spec', 'updateStrategy'));
  const type = textOf(strategy.type);
  const field = 'spec.updateStrategy';
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate')
    return [
      notSupported(field, { Type: type, RollingUpdate: strategy.rollingUpdate ?? null }, ['RollingUpdate', 'OnDelete']),
    ];
  const { maxSurge, maxUnavailable } = recordOf(strategy.rollingUpdate);
  const isZero = (value: unknown): boolean => value === 0 || value === '0%';
  if (isZero(maxSurge) && isZero(maxUnavailable))
    return [required(`${field}.rollingUpdate.maxUnavailable`, 'cannot be 0 when maxSurge is 0')];
  if (!isZero(maxSurge) && !isZero(maxUnavailable))
    return [
      invalidValue(`${field}.rollingUpdate.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero'),
    ];
  return [];
};

export const daemonSetStrategy: Strategy = {
  generation: true,
  defaults: (object) =>
    inField(withTemplate(object), 'spec', (given) => {
      const spec = under(defaultTemplate(given), { revisionHistoryLimit: 10, updateStrategy: {} });
      return inField(spec, 'updateStrategy', daemonSetUpdate);
    }),
  prepareCreate: (object) => ({ ...withTemplateGeneration(object, 1), status: daemonSetCounts }),
  prepareUpdate(object, previous) {
    const before = Number(textOf(at(previous, 'metadata', 'annotations', GENERATION))) || 1;
    const same = equal(at(object, 'spec', 'template'), at(previous, 'spec', 'template'));
    return withTemplateGeneration(keepStatus(object, previous), same ? before : before + 1);
  },
  validate: (object) => [...validateTemplate(object), ...daemonSetStrategyCauses(object)],
  validateUpdate: selectorIsFixed,
  subresources: {
    status: (previous, sent) => ({
      ...sent,
      spec: previous.spec,
      status: under(recordOf(sent.status), daemonSetCounts),
    }),
  },
};

const rollingDeployment = (strategy: Json): Json => {
  const typed = under(strategy, { type: 'RollingUpdate' });
  if (typed.type !== 'RollingUpdate') return typed;
  return { ...typed, rollingUpdate: under(recordOf(typed.rollingUpdate), { maxSurge: '25%', maxUnavailable: '25%' }) };
};

export const deploymentStrategy: Strategy = {
  generation: true,
  defaults: (object) =>
    inField(withTemplate(object), 'spec', (given) => {
      const spec = under(defaultTemplate(given), {
        replicas: 1,
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        strategy: {},
      });
      return inField(spec, 'strategy', rollingDeployment);
    }),
  prepareCreate: (object) => ({ ...object, status: {} }),
  prepareUpdate: keepStatus,
  validate: validateTemplate,
  validateUpdate: selectorIsFixed,
  subresources: { status: writeStatus },
};

export const replicaSetStrategy: Strategy = {
  generation: true,
  defaults: (object) => inField(withTemplate(object), 'spec', (spec) => under(defaultTemplate(spec), { replicas: 1 })),
  prepareCreate: (object) => ({ ...object, status: { replicas: 0 } }),
  prepareUpdate: keepStatus,
  validate: validateTemplate,
  validateUpdate: selectorIsFixed,
  subresources: { status: writeStatus },
};

const sorted = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, item]) => [key, sorted(item)]),
      )
    : value;

export const revisionStrategy: Strategy = {
  validateUpdate: (object, previous) =>
    equal(object.data, previous.data) ? [] : [invalidValue('data', sorted(object.data), 'field is immutable')],
  validate: (object) => (object.data === undefined ? [required('data', 'data is mandatory')] : []),
};
