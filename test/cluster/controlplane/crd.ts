import { eventually } from '../../support/index.ts';
import type { Api } from '../api.ts';

/** What is read of the manifest of a CustomResourceDefinition. */
export interface Crd {
  metadata: { name: string };
}

interface Served {
  status?: { conditions?: { type: string; status: string }[] };
}

/** Installs or updates a CustomResourceDefinition; resolves when the API server serves its objects. */
export const installCrd = async (api: Api, crd: Crd): Promise<void> => {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`;
  await api.apply(path, crd);
  const isServed = async (): Promise<boolean | undefined> => {
    const { status } = await api.get<Served>(path);
    return status?.conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True');
  };
  await eventually(`${crd.metadata.name} is served`, isServed, { everyMs: 50 });
};
