import { createVirtualClock, type VirtualClock } from '../../../runtime/index.ts';
import type { ApiServer } from '../../types.ts';
import { createApiServer } from '../server.ts';

export const START = Date.parse('2026-01-01T00:00:00Z');

/** A repeatable stream of chance (mulberry32). */
export const createChance = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

export const createTestServer = (options: { history?: number } = {}): { clock: VirtualClock; apiServer: ApiServer } => {
  const clock = createVirtualClock(START);
  return { clock, apiServer: createApiServer({ clock, random: createChance(1), ...options }) };
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
