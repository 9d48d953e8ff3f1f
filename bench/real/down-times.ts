import { randomBytes } from 'node:crypto';
import { createRandom } from '../../src/runtime/index.ts';
import { type Api } from '../../test/cluster/index.ts';
import { eventually } from '../../test/support/index.ts';
import { lognormal } from '../measure/lognormal.ts';

/** Template annotation: mean of the start delays of its pods, ms. */
export const MEAN_ANNOTATION = 'bench.edgeset.io/mean-start-ms';
const START_ANNOTATION = 'sim.edgeset.io/start-ms';
const TABLE_SIZE = 97;
export const SIGMA = 0.2;

/** Thousandths of the mean, by which the policy spreads the nodes' delays. */
const table = (): number[] => {
  const sample = lognormal(createRandom(11), 1000, SIGMA);
  return Array.from({ length: TABLE_SIZE }, () => Math.round(sample()));
};

/**
 * Gives each pod a start delay by its node's number (the last four characters of its name): lognormal, the same in every
 * run; one that is changed in place to another mean gets another. kwok itself adds up to a half, evenly spread.
 */
export const spreadDownTimes = async (api: Api): Promise<void> => {
  const group = '/apis/admissionregistration.k8s.io/v1beta1';
  const name = 'bench-down-times';
  const node =
    'object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].values[0]';
  await api.apply(`${group}/mutatingadmissionpolicies/${name}`, {
    apiVersion: 'admissionregistration.k8s.io/v1beta1',
    kind: 'MutatingAdmissionPolicy',
    metadata: { name },
    spec: {
      failurePolicy: 'Fail',
      reinvocationPolicy: 'Never',
      matchConstraints: {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['pods'] },
        ],
      },
      matchConditions: [
        {
          name: 'asks-for-it',
          expression: `has(object.metadata.annotations) && '${MEAN_ANNOTATION}' in object.metadata.annotations`,
        },
        {
          name: 'asks-for-another',
          expression: `oldObject == null || !has(oldObject.metadata.annotations) || !('${MEAN_ANNOTATION}' in oldObject.metadata.annotations) || oldObject.metadata.annotations['${MEAN_ANNOTATION}'] != object.metadata.annotations['${MEAN_ANNOTATION}']`,
        },
      ],
      variables: [
        { name: 'node', expression: node },
        { name: 'number', expression: 'int(variables.node.substring(variables.node.size() - 4))' },
        { name: 'share', expression: `[${table().join(', ')}][(variables.number * 37) % ${TABLE_SIZE}]` },
        { name: 'mean', expression: `int(object.metadata.annotations['${MEAN_ANNOTATION}'])` },
      ],
      mutations: [
        {
          patchType: 'JSONPatch',
          jsonPatch: {
            expression: `[JSONPatch{op: 'add', path: '/metadata/annotations/' + jsonpatch.escapeKey('${START_ANNOTATION}'), value: string(variables.mean * variables.share / 1000)}]`,
          },
        },
      ],
    },
  });
  await api.apply(`${group}/mutatingadmissionpolicybindings/${name}`, {
    apiVersion: 'admissionregistration.k8s.io/v1beta1',
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name },
  });
  const pin = {
    nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['edge-0001'] }] }],
  };
  const probe = {
    metadata: { name: `probe-${randomBytes(3).toString('hex')}`, annotations: { [MEAN_ANNOTATION]: '1000' } },
    spec: {
      containers: [{ name: 'probe', image: 'probe' }],
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: pin } },
    },
  };
  await eventually(
    'down times are spread',
    async () => {
      const pod = await api.post<{ metadata: { annotations?: Record<string, string> } }>(
        '/api/v1/namespaces/default/pods?dryRun=All',
        probe,
      );
      return pod.metadata.annotations?.[START_ANNOTATION] !== undefined;
    },
    { withinMs: 30_000, everyMs: 50 },
  );
};
