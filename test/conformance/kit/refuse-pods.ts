import type { Case } from './case.ts';

const API = '/apis/admissionregistration.k8s.io/v1';

export interface PodRefusal {
  operation: 'CREATE' | 'UPDATE' | 'DELETE';
  /** Default: pods. */
  of?: { group: string; version: string; resource: string };
  /** Default: the object itself. */
  subresource?: 'status' | 'resize';
  /** CEL: what must hold for an object of the case's namespace to pass. */
  expression: string;
  message: string;
}

/** Makes the API server refuse operations on pods of the case, or on other objects, a moment later. Resolves with a function that permits them again. */
export const refusePods = async (c: Case, refusal: PodRefusal): Promise<() => Promise<void>> => {
  const { operation, subresource, expression, message } = refusal;
  const { group, version, resource } = refusal.of ?? { group: '', version: 'v1', resource: 'pods' };
  const resources = [subresource === undefined ? resource : `${resource}/${subresource}`];
  const name = `refuse-${operation.toLowerCase()}-${c.namespace}`;
  await c.api.create(`${API}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': c.namespace } },
        resourceRules: [{ apiGroups: [group], apiVersions: [version], operations: [operation], resources }],
      },
      validations: [{ expression, message }],
    },
  });
  await c.api.create(`${API}/validatingadmissionpolicybindings`, {
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  });
  return async () => {
    await c.api.remove(`${API}/validatingadmissionpolicybindings/${name}`);
    await c.api.remove(`${API}/validatingadmissionpolicies/${name}`);
  };
};

/**
 * Creates a pod that no DaemonSet has, to see by a dry run what is refused: in the audit log, a dry run looks like the write itself.
 * Resolves with the path of the pod.
 */
export const createProbePod = async (c: Case): Promise<string> => {
  const pods = `/api/v1/namespaces/${c.namespace}/pods`;
  await c.api.create(pods, {
    metadata: { name: 'probe' },
    spec: { nodeName: c.nodes[0], containers: [{ name: 'probe', image: 'probe' }] },
  });
  return `${pods}/probe`;
};

/** Resolves when the API server refuses the dry run with this message: a policy is in force a moment after it was created. */
export const untilRefused = (c: Case, message: string, dryRun: () => Promise<unknown>): Promise<unknown> =>
  c.until(`the policy "${message}" is in force`, () =>
    dryRun().then(
      () => false,
      (error: unknown) => {
        if (String(error).includes(message)) return true;
        throw error;
      },
    ),
  );
