export { controllerRevisions, customResourceDefinitions, nodes, pods } from '../../kube/index.ts';

type Conditioned = { status?: { conditions?: { type: string; status: string }[] } };

export const isReady = (object: Conditioned | undefined): boolean =>
  object?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
