import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { type Clock, type Env, silentLogger, systemClock } from '../../runtime/index.ts';
import { createClient } from '../client/client.ts';
import type { ClientOptions } from '../client/options.ts';
import { defineResource } from '../client/resource.ts';
import type { KubeClient } from '../client/types.ts';
import type { ClusterConfig } from '../config/cluster-config.ts';

export const testEnv = (clock: Clock = systemClock): Env => ({ clock, random: () => 0.5, log: silentLogger });

export const testPods = defineResource<Pod>({
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
});

export const createTestClient = (
  server: string,
  config: Partial<ClusterConfig> = {},
  options: Partial<ClientOptions> = {},
): KubeClient =>
  createClient(
    {
      server,
      namespace: 'default',
      source: 'test',
      insecureSkipTlsVerify: config.certificateAuthority === undefined,
      auth: { token: { from: 'text', text: 'secret' } },
      ...config,
    },
    { env: testEnv(), userAgent: 'edgeset-test/0', qps: 0, terminal: false, ...options },
  );
