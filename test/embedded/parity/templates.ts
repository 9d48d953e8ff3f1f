import { templateLabels as labels, templateSpecs, withSpec } from '../../conformance/advanced/index.ts';
import type { ApiCall } from './servers.ts';

const TEMPLATES = '/api/v1/namespaces/default/podtemplates';

const dryRun = (template: unknown, more: object = {}): ApiCall => ({
  method: 'POST',
  path: `${TEMPLATES}?dryRun=All`,
  body: { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 't' }, template, ...more },
});

/** Calls for PodTemplates, which the product uses to validate and default its templates. */
export const templateCalls: readonly ApiCall[] = [
  ...templateSpecs.map((spec) => dryRun({ metadata: { labels }, spec })),
  dryRun({
    metadata: { labels: { 'bad key': 'x' }, annotations: { 'bad key': 'x' }, name: 'n', creationTimestamp: null },
    spec: withSpec({}),
  }),
  dryRun({
    metadata: { annotations: { a: '1', b: '<&>' }, finalizers: ['nope'], namespace: 'other' },
    spec: withSpec({}),
  }),
  dryRun({ metadata: { labels } }),
  dryRun(undefined),
  dryRun({ metadata: { labels }, spec: { containers: 'nope' } }),
  dryRun({
    metadata: { labels },
    spec: { containers: [{ name: 'c', image: 'x', ports: [{ containerPort: 'web' }] }] },
  }),
  dryRun({ metadata: { labels }, spec: withSpec({}) }, { metadata: { generateName: 'gen-' } }),
  dryRun({ metadata: { labels }, spec: withSpec({}) }, { metadata: {} }),
  {
    ...dryRun({ metadata: { labels }, spec: withSpec({}) }),
    path: `${TEMPLATES.replace('default', 'none')}?dryRun=All`,
  },
  { ...dryRun({ metadata: { labels }, spec: withSpec({}) }), path: TEMPLATES },
  {
    method: 'PATCH',
    path: `${TEMPLATES}/t`,
    type: 'application/merge-patch+json',
    body: { template: { spec: { nodeSelector: { a: 'b' } } } },
  },
  { method: 'GET', path: TEMPLATES },
  { method: 'GET', path: TEMPLATES, accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' },
  { method: 'DELETE', path: `${TEMPLATES}/t` },
];
