import {
  badRequest,
  forbiddenField,
  invalidValue,
  notSupported,
  requiredField,
  type StatusCause,
} from '../../errors.ts';
import { arrayOf, at, equal, type Json, mapField, mapItems, recordOf, textOf, withDefaultFields } from '../../json.ts';
import { matchesLabelSelector } from '../../label-selectors.ts';
import { keepStatus, type Strategy, statusSubresource } from '../kind.ts';
import { hostnameWarnings, templateWarnings } from '../warnings/pod-warnings.ts';
import { validateLabels } from './names.ts';
import { requirementCauses } from './placement-validation.ts';
import { defaultTemplate } from './pod-defaults.ts';
import { validatePodTemplate } from './pod-validation.ts';

const SELECTOR = 'spec.selector';

const selectorCauses = (object: Json): StatusCause[] => {
  const selector = at(object, 'spec', 'selector');
  const malformed = [
    ...validateLabels(recordOf(at(selector, 'matchLabels')), `${SELECTOR}.matchLabels`),
    ...arrayOf(at(selector, 'matchExpressions')).flatMap((each, index) =>
      requirementCauses(each, `${SELECTOR}.matchExpressions[${index}]`, { isNode: false }),
    ),
  ];
  if (malformed.length > 0) return malformed;
  if (selector !== undefined && Object.keys(recordOf(selector)).length === 0)
    return [invalidValue('spec.selector', selector, 'empty selector is invalid for daemonset')];
  const labels = at(object, 'spec', 'template', 'metadata', 'labels');
  if (matchesLabelSelector(selector, recordOf(labels))) return [];
  return [invalidValue('spec.template.metadata.labels', labels ?? null, '`selector` does not match template `labels`')];
};

const validateTemplate = (object: Json, owner: 'DaemonSet' | 'ReplicaSet'): StatusCause[] => {
  const template = recordOf(at(object, 'spec', 'template'));
  const spec = recordOf(template.spec);
  const causes = [...selectorCauses(object), ...validatePodTemplate(template, 'spec.template')];
  const policy = textOf(spec.restartPolicy);
  if (['OnFailure', 'Never'].includes(policy))
    causes.push(notSupported('spec.template.spec.restartPolicy', policy, ['Always']));
  if (spec.activeDeadlineSeconds !== undefined) {
    const why = `activeDeadlineSeconds in ${owner} is not Supported`;
    causes.push(forbiddenField('spec.template.spec.activeDeadlineSeconds', why));
  }
  return causes;
};

const selectorIsFixed = (object: Json, previous: Json): StatusCause[] => {
  const selector = at(object, 'spec', 'selector');
  return equal(selector, at(previous, 'spec', 'selector'))
    ? []
    : [invalidValue('spec.selector', selector, 'field is immutable')];
};

/** Go's structs always have a spec with a template with a spec. */
const withTemplate = (object: Json): Json =>
  mapField(withDefaultFields(object, { spec: {} }), 'spec', (spec) =>
    mapField(withDefaultFields(spec, { template: {} }), 'template', (template) =>
      withDefaultFields(template, { spec: {} }),
    ),
  );

const WHOLE = /^[+-]?[0-9]+$/;

const GENERATION = 'deprecated.daemonset.template.generation';

/** The template's generation; undefined without the annotation. */
const templateGeneration = (object: Json): number | undefined => {
  const text = at(object, 'metadata', 'annotations', GENERATION);
  if (typeof text !== 'string') return undefined;
  const refuse = (why: string): never => {
    const parsing = `strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`;
    throw badRequest(`DaemonSet in version "v1" cannot be handled as a DaemonSet: ${parsing}`);
  };
  if (!WHOLE.test(text)) return refuse('invalid syntax');
  return Number.isSafeInteger(Number(text)) ? Number(text) : refuse('value out of range');
};

const withTemplateGeneration = (daemonSet: Json, generation: number): Json =>
  mapField(daemonSet, 'metadata', (metadata) => {
    const annotations = recordOf(metadata.annotations);
    const text = String(generation);
    return annotations[GENERATION] === text
      ? metadata
      : { ...metadata, annotations: { ...annotations, [GENERATION]: text } };
  });

const daemonSetCounts = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
};

/** A strategy, which is a rolling update with these limits where it doesn't say otherwise. */
const rollingBy = (strategy: Json, limits: Json): Json => {
  const typed = withDefaultFields(strategy, { type: 'RollingUpdate' });
  return typed.type === 'RollingUpdate'
    ? { ...typed, rollingUpdate: withDefaultFields(recordOf(typed.rollingUpdate), limits) }
    : typed;
};

const daemonSetUpdate = (strategy: Json): Json =>
  // Where it sets no defaults, Kubernetes still writes both numbers.
  mapField(rollingBy(strategy, { maxSurge: 0, maxUnavailable: 1 }), 'rollingUpdate', (rolling) =>
    withDefaultFields(rolling, { maxSurge: 0, maxUnavailable: 0 }),
  );

const NEGATIVE = 'must be greater than or equal to 0';
const PERCENT = /^[0-9]+%$/;

/** A number of nodes, or a percentage. */
const shareCauses = (value: unknown, field: string): StatusCause[] => {
  if (typeof value === 'number') return value < 0 ? [invalidValue(field, value, NEGATIVE)] : [];
  if (typeof value !== 'string') return [];
  if (!PERCENT.test(value))
    return [
      invalidValue(
        field,
        value,
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      ),
    ];
  return Number.parseInt(value, 10) > 100 ? [invalidValue(field, value, 'must not be greater than 100%')] : [];
};

const negativeCauses = (object: Json, fields: readonly string[]): StatusCause[] =>
  fields.flatMap((name) => {
    const value = at(object, 'spec', name);
    return typeof value === 'number' && value < 0 ? [invalidValue(`spec.${name}`, value, NEGATIVE)] : [];
  });

const daemonSetStrategyCauses = (object: Json): StatusCause[] => {
  const strategy = recordOf(at(object, 'spec', 'updateStrategy'));
  const type = textOf(strategy.type);
  const field = 'spec.updateStrategy';
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate')
    return [
      notSupported(field, { Type: type, RollingUpdate: strategy.rollingUpdate ?? null }, ['RollingUpdate', 'OnDelete']),
    ];
  const { maxSurge, maxUnavailable } = recordOf(strategy.rollingUpdate);
  const causes = [
    ...shareCauses(maxUnavailable, `${field}.rollingUpdate.maxUnavailable`),
    ...shareCauses(maxSurge, `${field}.rollingUpdate.maxSurge`),
  ];
  // A text that is neither a percentage nor a number counts as none.
  const isZero = (value: unknown): boolean =>
    typeof value === 'string'
      ? !(PERCENT.test(value) || WHOLE.test(value)) || Number.parseInt(value, 10) === 0
      : value === 0;
  if (isZero(maxSurge) && isZero(maxUnavailable))
    causes.push(requiredField(`${field}.rollingUpdate.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
  if (!isZero(maxSurge) && !isZero(maxUnavailable))
    causes.push(
      invalidValue(`${field}.rollingUpdate.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero'),
    );
  return causes;
};

export const daemonSetStrategy: Strategy = {
  hasGeneration: true,
  defaults: (object) =>
    mapField(withTemplate(object), 'spec', (given) => {
      const spec = withDefaultFields(defaultTemplate(given), { revisionHistoryLimit: 10, updateStrategy: {} });
      return mapField(spec, 'updateStrategy', daemonSetUpdate);
    }),
  prepareForCreate: (object) => ({
    ...withTemplateGeneration(object, Math.max(1, templateGeneration(object) ?? 1)),
    status: daemonSetCounts,
  }),
  warnings: (object, previous) =>
    previous && templateGeneration(previous) === templateGeneration(object)
      ? []
      : templateWarnings(at(object, 'spec', 'template'), 'spec.template'),
  prepareForUpdate(object, previous) {
    const before = templateGeneration(previous) ?? 1;
    const same = equal(at(object, 'spec', 'template'), at(previous, 'spec', 'template'));
    return withTemplateGeneration(keepStatus(object, previous), same ? before : before + 1);
  },
  validate: (object) => [
    ...validateTemplate(object, 'DaemonSet'),
    ...negativeCauses(object, ['minReadySeconds']),
    ...daemonSetStrategyCauses(object),
    ...negativeCauses(object, ['revisionHistoryLimit']),
  ],
  validateUpdate: selectorIsFixed,
  subresources: {
    status: (previous, sent) => ({
      ...sent,
      spec: previous.spec,
      status: mapItems(withDefaultFields(recordOf(sent.status), daemonSetCounts), 'conditions', (condition) =>
        withDefaultFields(condition, { lastTransitionTime: null }),
      ),
    }),
  },
};

/** Warnings about what makes Pods by number: when it is new, and when its spec changes. */
const replicasWarnings = (object: Json, previous?: Json): string[] => {
  if (previous && equal(object.spec, previous.spec)) return [];
  return [
    ...(previous ? [] : hostnameWarnings(object, 'Pod names and hostnames')),
    ...templateWarnings(at(object, 'spec', 'template'), 'spec.template'),
  ];
};

const replicated: Strategy = {
  hasGeneration: true,
  validate: (object) => validateTemplate(object, 'ReplicaSet'),
  warnings: replicasWarnings,
  validateUpdate: selectorIsFixed,
  ...statusSubresource,
};

export const deploymentStrategy: Strategy = {
  ...replicated,
  defaults: (object) =>
    mapField(withTemplate(object), 'spec', (given) => {
      const spec = withDefaultFields(defaultTemplate(given), {
        replicas: 1,
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        strategy: {},
      });
      return mapField(spec, 'strategy', (strategy) => rollingBy(strategy, { maxSurge: '25%', maxUnavailable: '25%' }));
    }),
  prepareForCreate: (object) => ({ ...object, status: {} }),
};

export const replicaSetStrategy: Strategy = {
  ...replicated,
  defaults: (object) =>
    mapField(withTemplate(object), 'spec', (spec) => withDefaultFields(defaultTemplate(spec), { replicas: 1 })),
  prepareForCreate: (object) => ({ ...object, status: { replicas: 0 } }),
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
  validate: (object) => (object.data === undefined ? [requiredField('data', 'data is mandatory')] : []),
};

export const podTemplateStrategy: Strategy = {
  hasGeneration: true,
  returnDeletedObject: true,
  defaults: (object) =>
    defaultTemplate(
      mapField(withDefaultFields(object, { template: {} }), 'template', (template) =>
        withDefaultFields(template, { spec: {} }),
      ),
    ),
  validate: (object) => validatePodTemplate(recordOf(object.template), 'template'),
  warnings: (object, previous) =>
    previous && equal(object.template, previous.template) ? [] : templateWarnings(object.template, 'template'),
};
