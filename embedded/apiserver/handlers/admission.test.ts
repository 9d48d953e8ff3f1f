import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defineResource, pods } from '../../../src/kube/index.ts';
import { createVirtualClock } from '../../../src/runtime/index.ts';
import { createApiServer } from '../server.ts';

const policies = defineResource<object>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
  namespaced: false,
});
const bindings = defineResource<object>({
  ...policies,
  plural: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
});

/** Creates a pod under a policy that forbids all pods and has these fields, too. */
const createUnder = (fields: object): void => {
  const server = createApiServer({ clock: createVirtualClock(1_800_000_000_000), random: () => 0.5 });
  server.create<object>(policies, {
    metadata: { name: 'none' },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
      },
      validations: [{ expression: 'false', message: 'no pods here' }],
      ...fields,
    },
  });
  const spec = { policyName: 'none', validationActions: ['Deny'] };
  server.create<object>(bindings, { metadata: { name: 'none' }, spec });
  server.create<object>(pods, {
    metadata: { name: 'app', namespace: 'default' },
    spec: { containers: [{ name: 'app', image: 'app:v1' }] },
  });
};

describe('admission policies on the embedded cluster', () => {
  it('deny what they forbid to everybody', () => assert.throws(() => createUnder({}), /no pods here/));

  it('know what is written, and its name', () => {
    const about = (resource: string) => `request.resource.resource != '${resource}' || request.name != 'app'`;
    createUnder({ validations: [{ expression: about('configmaps'), message: 'no pods here' }] });
    assert.throws(
      () => createUnder({ validations: [{ expression: about('pods'), message: 'no pods here' }] }),
      /no pods/,
    );
  });

  it('are not enforced if they are about who writes, which this cluster does not tell apart', () => {
    createUnder({ matchConditions: [{ name: 'tenants', expression: "request.userInfo.username == 'x'" }] });
    createUnder({ variables: [{ name: 'who', expression: 'request.userInfo.username' }] });
  });
});
