// The dashboard in the cluster as it is shipped, on a real control plane, and those who call it.

import { writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DASHBOARD_FLAGS } from '../../bin/flags.ts';
import { createTestAuthority, eventually } from '../support/index.ts';
import { kubeconfigText } from './controlplane.ts';
import { kubectl, kubectlApply, mintToken, type RealCluster, startCluster } from './index.ts';
import type { Program } from './processes.ts';
import { shippedProgram } from './shipped.ts';

const root = join(import.meta.dirname, '..', '..');
export const DASHBOARD = 'system:serviceaccount:edgeset-system:edgeset-dashboard';

export interface Answer {
  status: number;
  cookie: string;
  body: string;
  headers: IncomingHttpHeaders;
}

export interface Sent {
  cookie?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** The address to connect from. */
  from?: string;
}

/** On its own connection. */
export const callDashboard = (
  { port, ca }: Pick<ServedDashboard, 'port' | 'ca'>,
  method: string,
  path: string,
  { cookie, body, headers = {}, from }: Sent = {},
): Promise<Answer> => {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const origin = `https://127.0.0.1:${port}`;
  const sent = request(
    `${origin}${path}`,
    {
      method,
      ca,
      agent: false,
      ...(from !== undefined && { localAddress: from }),
      headers: { origin, 'content-type': 'application/json', ...(cookie && { cookie }), ...headers },
    },
    (response) => {
      text(response).then(
        (said) =>
          resolve({
            status: response.statusCode ?? 0,
            cookie: response.headers['set-cookie']?.[0]?.split(';')[0] ?? '',
            body: said,
            headers: response.headers,
          }),
        reject,
      );
    },
  );
  sent.on('error', reject);
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
};

/** There is no such plan; the dashboard looks for it. */
export const daemonSet = (namespace: string) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: {
    name: 'web',
    namespace,
    annotations: { 'apps.openyurt.io/update-strategy': 'auto', 'edgeset.io/rollout-plan': 'cluster/rings' },
  },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    updateStrategy: { type: 'OnDelete' },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'web:v1' }] } },
  },
});

/** A user who may read the rollouts of a namespace, and write its DaemonSets if `writes`. Resolves with a token. */
export const createUser = async (
  cluster: RealCluster,
  name: string,
  namespace: string,
  writes: boolean,
): Promise<string> => {
  const run = (...args: string[]): Promise<string> => kubectl(cluster.kubeconfig, ['-n', namespace, ...args]);
  await run('create', 'serviceaccount', name);
  const metadata = { name, namespace };
  const verbs = ['get', 'list', 'watch'];
  await kubectlApply(cluster.kubeconfig, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata,
    rules: [
      { apiGroups: ['edgeset.io'], resources: ['daemonrollouts'], verbs },
      { apiGroups: ['apps'], resources: ['daemonsets'], verbs: writes ? [...verbs, 'patch'] : verbs },
      { apiGroups: ['apps'], resources: ['controllerrevisions'], verbs },
      { apiGroups: [''], resources: ['pods'], verbs },
    ],
  });
  await run('create', 'rolebinding', name, `--role=${name}`, `--serviceaccount=${namespace}:${name}`);
  const user = `system:serviceaccount:${namespace}:${name}`;
  await eventually(`${user} has its rights`, () => run('auth', 'can-i', 'watch', 'pods', `--as=${user}`));
  return mintToken(cluster.plane.api, namespace, name);
};

export interface ServedDashboard {
  program: Program;
  port: number;
  ca: string;
}

/** Serves it as it is shipped, and resolves once it has read the rollouts. `within`: what the command line becomes, to limit it. */
export const startDashboard = async (
  cluster: RealCluster,
  name: string,
  within: (command: string[]) => string[] = (command) => command,
): Promise<ServedDashboard> => {
  const { plane } = cluster;
  const token = await mintToken(plane.api, 'edgeset-system', 'edgeset-dashboard');
  const write = (extension: string, content: string): string => {
    const path = join(plane.dir, `${name}.${extension}`);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  const authority = createTestAuthority();
  const { cert, key } = authority.issue('dashboard');
  const [file = '', ...args] = within([
    process.execPath,
    ...DASHBOARD_FLAGS,
    await shippedProgram('dashboard'),
    'dashboard',
    `--kubeconfig=${write('kubeconfig', kubeconfigText({ ...plane.access, token }))}`,
    '--listen=127.0.0.1:0',
    `--tls-cert-file=${write('crt', cert)}`,
    `--tls-private-key-file=${write('key', key)}`,
    '--log-format=json',
  ]);
  const program = await plane.processes.start({ name, file, args });
  const port = await eventually(
    'the dashboard watches the rollouts',
    async () => {
      const log = await program.log();
      const [, found] = /"serving the dashboard","port":(\d+)/.exec(log) ?? [];
      return log.includes('watching the rollouts') && Number(found);
    },
    { everyMs: 50 },
  );
  return { program, port, ca: authority.cert };
};

/** A cluster with the CRDs, and the dashboard's account with its rights. */
export const startDashboardCluster = async (): Promise<RealCluster> => {
  const cluster = await startCluster();
  const crds = ['apply', '--server-side', '-f', join(root, 'deploy', 'crds')];
  await kubectl(cluster.kubeconfig, crds);
  await kubectl(cluster.kubeconfig, ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']);
  await kubectl(cluster.kubeconfig, ['create', 'namespace', 'edgeset-system']);
  await kubectl(cluster.kubeconfig, ['apply', '-f', join(root, 'deploy', 'dashboard', 'rbac.yaml')]);
  await eventually('the dashboard has its rights', () =>
    kubectl(cluster.kubeconfig, ['auth', 'can-i', 'create', 'tokenreviews.authentication.k8s.io', `--as=${DASHBOARD}`]),
  );
  return cluster;
};
