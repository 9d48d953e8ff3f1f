// Writes the admission policy that warns of misspelled annotations to deploy/ and to the chart: npm run generate

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import { fieldInsteadOf } from '../src/kinds/advanced/api/policy.ts';
import { spellings } from '../src/rollout/policy/spelling.ts';
import {
  ADVANCED_ROLLOUT_SUFFIX,
  aliasOf,
  knownKeys,
  OPENYURT_PREFIX,
  PREFIX,
  strategyKeys,
} from '../src/words/index.ts';

export const ANNOTATION_POLICY_FILES = ['deploy', 'charts/edgeset/files'].map((folder) =>
  path.join(import.meta.dirname, '..', folder, 'annotation-policy.yaml'),
);

const NAME = 'edgeset-annotations';

// What follows is CEL, which has the same literals as JSON.
const literal = (value: unknown): string => JSON.stringify(value, undefined, 1);

/** Evaluates to the list of settings that the key `k` may have been meant to be. */
const meant =
  "variables.spellings.filter(s, k.substring(k.indexOf('/') + 1).lowerAscii().replace('-', '').replace('_', '').replace('.', '').matches(s.letters))";

const metadata = {
  name: NAME,
  labels: {
    'app.kubernetes.io/name': 'edgeset',
    'app.kubernetes.io/component': 'manager',
    'app.kubernetes.io/part-of': 'edgeset',
  },
};

const policy = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata,
  spec: {
    // It only warns, so nothing depends on it.
    failurePolicy: 'Ignore',
    matchConstraints: {
      resourceRules: [
        {
          apiGroups: ['apps', 'apps.kruise.io'],
          apiVersions: ['*'],
          operations: ['CREATE', 'UPDATE'],
          resources: ['daemonsets'],
        },
      ],
    },
    matchConditions: [
      {
        name: 'has-our-annotations',
        expression: `object.metadata.?annotations.orValue({}).exists(k, k.startsWith('${PREFIX}') || k.startsWith('${OPENYURT_PREFIX}'))`,
      },
    ],
    variables: [
      { name: 'annotations', expression: 'object.metadata.?annotations.orValue({})' },
      { name: 'isAdvanced', expression: "request.resource.group == 'apps.kruise.io'" },
      { name: 'known', expression: literal([...knownKeys]) },
      { name: 'spellings', expression: literal(spellings()) },
      {
        name: 'unknown',
        expression: `variables.annotations.map(k, k).filter(k, !(k in variables.known) && (k.startsWith('${PREFIX}') || k.startsWith('${OPENYURT_PREFIX}') && size(${meant}) > 0))`,
      },
      {
        name: 'isOptedIn',
        expression: `variables.isAdvanced || ${literal(strategyKeys)}.exists(k, k in variables.annotations)`,
      },
      {
        name: 'ignored',
        expression: `variables.isAdvanced ? ${literal(Object.keys(fieldInsteadOf))}.filter(k, k in variables.annotations) : []`,
      },
    ],
    validations: [
      {
        expression: 'size(variables.unknown) == 0',
        message: 'edgeset does not know some of the annotations',
        messageExpression: `'edgeset does not know ' + variables.unknown.map(k, k + (size(${meant}) > 0 ? ' (do you mean ' + ${meant}[0].meant + '?)' : '')).join(', ') + (variables.isOptedIn ? ': the rollout is held until this is mended' : '')`,
        reason: 'Invalid',
      },
      ...Object.entries(aliasOf).map(([key, second]) => ({
        expression: `!('${key}' in variables.annotations && '${second}' in variables.annotations) || variables.annotations['${key}'].trim() == variables.annotations['${second}'].trim()`,
        message: `edgeset: ${key} and ${second} are the same setting and have different values: remove one of the two`,
        reason: 'Invalid',
      })),
      {
        expression:
          "!variables.isOptedIn || variables.isAdvanced || object.spec.?updateStrategy.?type.orValue('') == 'OnDelete'",
        message:
          'edgeset: spec.updateStrategy.type leaves the update to the native controller: set it to OnDelete, or remove the annotation that chooses the strategy',
        reason: 'Invalid',
      },
      {
        expression: `!variables.isOptedIn || variables.isAdvanced || !object.metadata.name.endsWith('${ADVANCED_ROLLOUT_SUFFIX}')`,
        message: `edgeset: a name that ends in ${ADVANCED_ROLLOUT_SUFFIX} is for the DaemonRollouts of Advanced DaemonSets, so this DaemonSet is not rolled out: create it under another name`,
        reason: 'Invalid',
      },
      {
        expression: 'size(variables.ignored) == 0',
        message: 'edgeset: some annotations have no effect on an Advanced DaemonSet',
        messageExpression:
          "'edgeset: ' + variables.ignored.join(', ') + ' has no effect on an Advanced DaemonSet: set the field of spec.updateStrategy.rollingUpdate'",
        reason: 'Invalid',
      },
    ],
  },
};

const binding = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata,
  spec: { policyName: NAME, validationActions: ['Warn'] },
};

/** The policy and its binding. */
export const renderAnnotationPolicy = (): string =>
  [
    '# Written by scripts/write-annotation-policy.ts from src/words/keys.ts: change it there.\n',
    '# Warns users who apply a DaemonSet with a misspelled annotation of edgeset. It refuses nothing.\n',
    stringify(policy, { lineWidth: 0 }),
    '---\n',
    stringify(binding, { lineWidth: 0, aliasDuplicateObjects: false }),
  ].join('');

if (import.meta.main) for (const file of ANNOTATION_POLICY_FILES) writeFileSync(file, renderAnnotationPolicy());
