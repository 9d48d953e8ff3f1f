import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { eventually } from '../support/index.ts';
import type { Api, Json } from './api.ts';
import { mutatingPolicies } from './controlplane/build.ts';

const policies = `admissionregistration.k8s.io/${mutatingPolicies()}`;
const addresses: Record<string, string> = {
  MutatingAdmissionPolicy: `/apis/${policies}/mutatingadmissionpolicies`,
  MutatingAdmissionPolicyBinding: `/apis/${policies}/mutatingadmissionpolicybindings`,
  ConfigMap: '/api/v1/namespaces/kube-system/configmaps',
};

/** Installs the admission policies that simulated nodes need (`kwok/admission.yaml`); resolves when they are in force. */
export const installNodeSimulation = async (api: Api): Promise<void> => {
  const file = await readFile(join(import.meta.dirname, 'kwok', 'admission.yaml'), 'utf8');
  const text = file.replaceAll('admissionregistration.k8s.io/v1beta1', policies);
  await Promise.all(
    parseAllDocuments(text).map((document) => {
      const object = document.toJS() as Json & { kind: string; metadata: { name: string } };
      return api.apply(`${addresses[object.kind]}/${object.metadata.name}`, object);
    }),
  );
  await Promise.all([
    eventually(
      'nodes get their power label',
      async () => {
        const node = await api.post<{ metadata: { labels?: Record<string, string> } }>('/api/v1/nodes?dryRun=All', {
          metadata: { name: 'probe' },
        });
        return node.metadata.labels?.['sim.edgeset.io/power'] === 'on';
      },
      { everyMs: 50 },
    ),
    // Before that, pods of the namespace are refused.
    eventually(
      'the default ServiceAccount exists',
      () => api.get('/api/v1/namespaces/default/serviceaccounts/default'),
      { everyMs: 50 },
    ),
  ]);
};
