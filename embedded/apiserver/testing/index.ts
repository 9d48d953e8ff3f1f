import { createRandom, createVirtualClock, type VirtualClock } from '../../../src/runtime/index.ts';
import type { ApiServer } from '../../types.ts';
import { createApiServer } from '../server.ts';

export { configMaps } from '../../../src/kube/testing/index.ts';

export const START = Date.parse('2026-01-01T00:00:00Z');

export const createTestServer = (options: { history?: number } = {}): { clock: VirtualClock; apiServer: ApiServer } => {
  const clock = createVirtualClock(START);
  return { clock, apiServer: createApiServer({ clock, random: createRandom(1), ...options }) };
};

export const daemonSet = (name: string, image = 'app:v1') => ({
  metadata: { namespace: 'default', name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'app', image }] } },
  },
});

export const pod = (name: string, nodeName?: string) => ({
  metadata: { namespace: 'default', name, labels: { app: name } },
  spec: { containers: [{ name: 'app', image: 'app:v1' }], ...(nodeName === undefined ? {} : { nodeName }) },
});

export const configMap = (name: string, labels: Record<string, string> = {}) => ({
  metadata: { namespace: 'default', name, labels },
  data: { a: '1' },
});
