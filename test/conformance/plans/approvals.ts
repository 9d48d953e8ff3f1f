/** Specs of approvals, each with the verdict that it must get. */

import type { Verdict } from '../kit/index.ts';

/** A decision of the user `ada`. */
export const decision = {
  daemonSet: { apiGroup: 'apps', name: 'web' },
  revision: '6d8c9f7b5',
  stage: 'canary',
  approvedBy: 'ada',
};

const without = (field: keyof typeof decision): Record<string, unknown> => ({ ...decision, [field]: undefined });

export const approvalCases: readonly (Verdict & { name: string; spec: Record<string, unknown> })[] = [
  {
    name: 'a decision, and fills in which',
    spec: { ...decision, daemonSet: { name: 'web' } },
    stored: { decision: 'Approve', daemonSet: { apiGroup: 'apps', name: 'web' } },
  },
  { name: 'a promotion with a comment', spec: { ...decision, decision: 'Promote', comment: 'Urgent.' } },
  {
    name: 'one for an Advanced DaemonSet',
    spec: { ...decision, daemonSet: { apiGroup: 'apps.kruise.io', name: 'a.b' } },
  },
  { name: 'one without a DaemonSet', spec: without('daemonSet'), refused: ['spec.daemonSet', 'Required value'] },
  { name: 'one without a revision', spec: without('revision'), refused: ['spec.revision', 'Required value'] },
  { name: 'one without a stage', spec: without('stage'), refused: ['spec.stage', 'Required value'] },
  { name: 'one of nobody', spec: without('approvedBy'), refused: ['spec.approvedBy', 'Required value'] },
  {
    name: 'one of an empty name',
    spec: { ...decision, approvedBy: '' },
    refused: ['spec.approvedBy', 'at least 1 char'],
  },
  {
    name: 'one for a Deployment',
    spec: { ...decision, daemonSet: { apiGroup: 'extensions', name: 'web' } },
    refused: ['spec.daemonSet.apiGroup', 'Unsupported value'],
  },
  {
    name: 'one for no revision',
    spec: { ...decision, revision: '' },
    refused: ['spec.revision', 'the value of the label controller-revision-hash'],
  },
  {
    name: 'one for a DaemonSet in capitals',
    spec: { ...decision, daemonSet: { apiGroup: 'apps', name: 'Web' } },
    refused: ['spec.daemonSet.name', 'must be the name of an object'],
  },
  {
    name: 'one for a stage in capitals',
    spec: { ...decision, stage: 'Lab' },
    refused: ['spec.stage', 'such as canary-1'],
  },
  {
    name: 'one for the stage rest',
    spec: { ...decision, stage: 'rest' },
    refused: ['spec.stage', 'is the last stage'],
  },
  {
    name: 'an unknown decision',
    spec: { ...decision, decision: 'Refuse' },
    refused: ['spec.decision', 'Unsupported value'],
  },
  {
    name: 'a comment of 1025 characters',
    spec: { ...decision, comment: 'x'.repeat(1025) },
    refused: ['spec.comment', 'Too long'],
  },
];
