import type { TestContext } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import {
  createTestAuthority,
  type Request,
  type Response,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from '../../../test/support/index.ts';
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

export const testAuthority = createTestAuthority();
export const testIdentity = testAuthority.issue('server');
/** Makes a client trust servers with `testIdentity`. */
export const trusting = { certificateAuthority: { from: 'text', text: testAuthority.cert } } as const;

export interface ServeOptions extends Partial<TestServerOptions> {
  config?: Partial<ClusterConfig>;
}

/** A server with this handler and a client of it, closed after the test. */
export const serve = async (
  t: TestContext,
  handle: (request: Request, response: Response) => void,
  options: Partial<ClientOptions> = {},
  { config = {}, ...serverOptions }: ServeOptions = {},
): Promise<{ server: TestServer; client: KubeClient }> => {
  const server = await startTestServer({ protocol: 'http', identity: testIdentity, ...serverOptions }, handle);
  const client = createTestClient(server.url, config, options);
  t.after(async () => {
    await client.close();
    await server.close();
  });
  return { server, client };
};
