import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Api, Json } from './api.ts';
import { until } from './wait.ts';

const addresses: Record<string, string> = {
  MutatingAdmissionPolicy: '/apis/admissionregistration.k8s.io/v1beta1/mutatingadmissionpolicies',
  MutatingAdmissionPolicyBinding: '/apis/admissionregistration.k8s.io/v1beta1/mutatingadmissionpolicybindings',
  ConfigMap: '/api/v1/namespaces/kube-system/configmaps',
};

/** Teaches the API server what simulated nodes need (`kwok/admission.yaml`); resolves when it acts on it. */
export const installNodeSimulation = async (api: Api): Promise<void> => {
  const text = await readFile(join(import.meta.dirname, 'kwok', 'admission.yaml'), 'utf8');
  await Promise.all(
    parseAllDocuments(text).map((document) => {
      const object = document.toJS() as Json & { kind: string; metadata: { name: string } };
      return api.apply(`${addresses[object.kind]}/${object.metadata.name}`, object);
    }),
  );
  await Promise.all([
    until('nodes get their power label', 30_000, 50, async () => {
      const node = await api.post<{ metadata: { labels?: Record<string, string> } }>('/api/v1/nodes?dryRun=All', {
        metadata: { name: 'probe' },
      });
      return node.metadata.labels?.['sim.edgeset.io/power'] === 'on';
    }),
    // Pods of the namespace are refused before.
    until('the default ServiceAccount exists', 30_000, 50, () =>
      api.get('/api/v1/namespaces/default/serviceaccounts/default'),
    ),
  ]);
};
