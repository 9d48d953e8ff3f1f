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

/**
 * Makes the API server refuse operations on pods of the case, or on other objects. Resolves once they are refused, with a function
 * that permits them again. A policy is in force, and no longer, a moment after it is written: it refuses the dry run of one more
 * object, which tells.
 */
export const refusePods = async (c: Case, refusal: PodRefusal): Promise<() => Promise<void>> => {
  const { operation, subresource, expression, message } = refusal;
  const { group, version, resource } = refusal.of ?? { group: '', version: 'v1', resource: 'pods' };
  const resources = [subresource === undefined ? resource : `${resource}/${subresource}`];
  const name = `refuse-${operation.toLowerCase()}-${c.namespace}`;
  const isRefused = (): Promise<boolean> =>
    c.api.create(`/api/v1/namespaces/${c.namespace}/configmaps?dryRun=All`, { metadata: { name } }).then(
      () => false,
      (error: unknown) => {
        if (String(error).includes(message)) return true;
        throw error;
      },
    );
  await c.api.create(`${API}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': c.namespace } },
        resourceRules: [
          { apiGroups: [group], apiVersions: [version], operations: [operation], resources },
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
        ],
      },
      validations: [
        {
          expression: `request.resource.resource == 'configmaps' ? request.name != '${name}' : (${expression})`,
          message,
        },
      ],
    },
  });
  await c.api.create(`${API}/validatingadmissionpolicybindings`, {
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  });
  await c.until(`"${message}" is in force`, isRefused);
  return async () => {
    await c.api.remove(`${API}/validatingadmissionpolicybindings/${name}`);
    await c.api.remove(`${API}/validatingadmissionpolicies/${name}`);
    await c.until(`"${message}" is no longer in force`, async () => !(await isRefused()));
  };
};
