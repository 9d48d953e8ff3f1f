import type { ApiCall } from './servers.ts';

// What the lists of calls are made of.

export const DS = '/apis/apps/v1/namespaces/default/daemonsets';
export const PODS = '/api/v1/namespaces/default/pods';
export const MERGE = 'application/merge-patch+json';
export const STRATEGIC = 'application/strategic-merge-patch+json';

export const get = (path: string, accept?: string): ApiCall => ({ method: 'GET', path, ...(accept ? { accept } : {}) });
export const post = (path: string, body: unknown): ApiCall => ({ method: 'POST', path, body });
export const put = (path: string, body: unknown): ApiCall => ({ method: 'PUT', path, body });
export const patch = (type: string, path: string, body: unknown): ApiCall => ({ method: 'PATCH', path, body, type });
export const remove = (path: string, body?: unknown): ApiCall => ({
  method: 'DELETE',
  path,
  ...(body ? { body } : {}),
});

export const daemonSet = (name: string, spec: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'nginx:1' }] } },
    ...spec,
  },
});
