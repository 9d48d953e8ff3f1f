import type { Pod, PodSpec, PodTemplateSpec, Secret, ServiceAccount } from 'kubernetes-types/core/v1.d.ts';
import { createApiServer, createInProcessClient } from '../../../../embedded/index.ts';
import { type KubeClient, KubeError, pods, secrets, serviceAccounts } from '../../../kube/index.ts';
import { imageReadyPatch, imageReadyRemoval } from '../../../rollout/index.ts';
import { createLogger, createRandom, type Env, systemClock } from '../../../runtime/index.ts';
import type { ImagePullsOptions, PullTarget } from '../image-pulls.ts';
import { startFakeRuntime } from './fake-runtime.ts';

/** Short enough for a test, and long enough to observe intermediate states. */
export const limits: NonNullable<ImagePullsOptions['limits']> = {
  attempts: 3,
  backoff: { baseMs: 1, maxMs: 2 },
  reportBackoff: { baseMs: 1, maxMs: 5 },
  pullMs: 30_000,
  disk: { bytes: 0, share: 0 },
};

export const target = (hash: string, spec: Partial<PodSpec> | string): PullTarget => {
  const containers = [{ name: 'app', image: typeof spec === 'string' ? spec : 'app:v1' }];
  const template: PodTemplateSpec = { spec: { containers, ...(typeof spec === 'string' ? {} : spec) } };
  return { hash, template };
};

/** An API server with one pod, a link to it that can be cut, and a container runtime. */
export const createTestbed = async () => {
  const lines: string[] = [];
  const env: Env = {
    clock: systemClock,
    random: createRandom(1),
    log: createLogger({ write: (line) => lines.push(line), now: () => 0, level: 'debug', format: 'text' }),
  };
  const apiServer = createApiServer(env);
  apiServer.create(
    { ...pods, plural: 'namespaces', kind: 'Namespace', namespaced: false },
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'edge' },
    },
  );
  const runtime = startFakeRuntime();
  await runtime.start();
  const inner = createInProcessClient(apiServer);
  const link = {
    down: false,
    refused: new Set<string>(),
    /** By verb and plural, such as `patch pods`. */
    errors: new Map<string, KubeError>(),
    calls: [] as string[],
    bodies: [] as unknown[],
    /** Patches wait for this. */
    hold: Promise.resolve(),
    release: (): void => undefined,
  };
  const through = (verb: string, plural: string): void => {
    link.calls.push(`${verb} ${plural}`);
    if (link.down) throw new KubeError('Transport', 'the link is cut', { happened: 'unknown' });
    const error = link.errors.get(`${verb} ${plural}`);
    if (error) throw error;
    if (link.refused.has(plural)) throw new KubeError('Forbidden', 'no', { status: 403 });
  };
  const client: KubeClient = {
    ...inner,
    get: async (resource, ref, options) => {
      through('get', resource.plural);
      return inner.get(resource, ref, options);
    },
    patch: async (resource, ref, body, options) => {
      link.bodies.push(body);
      await link.hold;
      through('patch', resource.plural);
      return inner.patch(resource, ref, body, options);
    },
  };

  const ref = { namespace: 'edge', name: 'app' };
  const podUid = (): string => apiServer.get<Pod>(pods, ref).metadata?.uid ?? '';
  return {
    env,
    lines,
    runtime,
    link,
    client,
    apiServer,
    pod: (): Pod => apiServer.get<Pod>(pods, ref),
    createPod(): Pod {
      apiServer.create<Pod>(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: ref,
        spec: { nodeName: 'n', containers: [{ name: 'app', image: 'app:v0' }] },
      });
      const ready = { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
      return apiServer.patch<Pod>(
        pods,
        ref,
        { status: { conditions: [ready] } },
        { type: 'strategic', subresource: 'status' },
      );
    },
    announce: (hash: string): Pod =>
      apiServer.patch<Pod>(
        pods,
        ref,
        {
          status: {
            conditions: [{ type: 'PodNeedUpgrade', status: 'True', message: `controllerrevision: ${hash}` }],
          },
        },
        { type: 'strategic', subresource: 'status' },
      ),
    /** Requests the images like the manager. */
    ask: (hash: string): Pod =>
      apiServer.patch<Pod>(
        pods,
        ref,
        imageReadyPatch(
          { uid: podUid(), status: undefined },
          { reason: 'PullingImage', revision: hash },
          env.clock.now(),
        ),
        { type: 'strategic', subresource: 'status' },
      ),
    unask: (): Pod => {
      const { uid = '', resourceVersion = '' } = apiServer.get<Pod>(pods, ref).metadata ?? {};
      const how = { type: 'strategic', subresource: 'status' } as const;
      return apiServer.patch<Pod>(pods, ref, imageReadyRemoval({ uid, resourceVersion }), how);
    },
    deletePod: (): void => void apiServer.delete(pods, ref, { gracePeriodSeconds: 0 }),
    condition: (type: string) =>
      apiServer.get<Pod>(pods, ref).status?.conditions?.find((condition) => condition.type === type),
    addSecret(name: string, auths: Record<string, string>): void {
      const entries = Object.entries(auths).map(([key, login]) => [
        key,
        { auth: Buffer.from(login).toString('base64') },
      ]);
      const json = JSON.stringify({ auths: Object.fromEntries(entries) as unknown });
      apiServer.create<Secret>(secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { namespace: 'edge', name },
        type: 'kubernetes.io/dockerconfigjson',
        data: { '.dockerconfigjson': Buffer.from(json).toString('base64') },
      });
    },
    addServiceAccount(name: string, ...pullSecrets: string[]): void {
      apiServer.create<ServiceAccount>(serviceAccounts, {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { namespace: 'edge', name },
        imagePullSecrets: pullSecrets.map((secret) => ({ name: secret })),
      });
    },
    close: async (): Promise<void> => {
      await inner.close();
      await runtime.close();
    },
  };
};
export type Testbed = Awaited<ReturnType<typeof createTestbed>>;
