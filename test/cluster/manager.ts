import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { MANAGER_FLAGS } from '../../bin/flags.ts';
import type { Manager, ManagerOptions } from '../conformance/index.ts';
import { eventually } from '../support/index.ts';
import type { Api, Json } from './api.ts';
import { type ControlPlane, freePort, kubeconfigText } from './controlplane.ts';

const root = join(import.meta.dirname, '..', '..');

/** Kinds of `deploy/` that a manager outside the cluster needs, and where they live. */
const kinds: Record<string, { path: string; namespaced: boolean }> = {
  ClusterRole: { path: '/apis/rbac.authorization.k8s.io/v1/clusterroles', namespaced: false },
  ClusterRoleBinding: { path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', namespaced: false },
  Role: { path: '/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles', namespaced: true },
  RoleBinding: { path: '/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings', namespaced: true },
  ServiceAccount: { path: '/api/v1/namespaces/{namespace}/serviceaccounts', namespaced: true },
  CustomResourceDefinition: {
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    namespaced: false,
  },
};

interface Manifest extends Json {
  kind: string;
  metadata: { name: string; namespace?: string };
  subjects?: { kind: string; name: string; namespace?: string }[];
  roleRef?: unknown;
}

/** Every object of the YAML files under `folder`; those of the agents are a matter of their own (agent.ts). */
export const readManifests = async (folder: string): Promise<Manifest[]> => {
  const files = (await readdir(folder, { recursive: true }))
    .filter((file) => /\.ya?ml$/.test(file) && !file.startsWith('agent/'))
    .toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  return texts
    .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Manifest | null))
    .filter((object) => object !== null);
};

/**
 * Gives the ServiceAccounts of `deploy/` their rights, as if it had been installed into `namespace`: cluster-wide roles
 * as they are, everything namespaced moved there, and bindings under names of their own so that installations add up.
 */
export const installRights = async (api: Api, namespace: string, folder = join(root, 'deploy')): Promise<void> => {
  const all = (await readManifests(folder)).filter(({ kind }) => kind in kinds);
  if (!all.some(({ kind, metadata }) => kind === 'ServiceAccount' && metadata.name === 'edgeset-manager')) {
    throw new Error(`${folder} holds no ServiceAccount edgeset-manager: nothing says which rights a manager has`);
  }
  const moved = all.map((object): Manifest => {
    const place = kinds[object.kind];
    const metadata = { ...object.metadata };
    if (place?.namespaced) metadata.namespace = namespace;
    if (object.kind === 'ClusterRoleBinding') metadata.name = `${metadata.name}-${namespace}`;
    return {
      ...object,
      metadata,
      ...(object.subjects && {
        subjects: object.subjects.map((subject) =>
          subject.kind === 'ServiceAccount' ? { ...subject, namespace } : subject,
        ),
      }),
    };
  });
  const order = Object.keys(kinds);
  for (const object of moved.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))) {
    const place = kinds[object.kind];
    if (place) await api.apply(`${place.path.replace('{namespace}', namespace)}/${object.metadata.name}`, object);
  }
  for (const { kind, metadata } of moved) {
    if (kind !== 'CustomResourceDefinition') continue;
    await eventually(
      `${metadata.name} is served`,
      async () => {
        const { status } = await api.get<{ status?: { conditions?: { type: string; status: string }[] } }>(
          `${kinds.CustomResourceDefinition?.path}/${metadata.name}`,
        );
        return status?.conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True');
      },
      { withinMs: 30_000, everyMs: 50 },
    );
  }
};

/** A token of a ServiceAccount, good for a day. */
export const mintToken = async (api: Api, namespace: string, name: string): Promise<string> => {
  const { status } = await api.post<{ status: { token: string } }>(
    `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 86_400 } },
  );
  return status.token;
};

/** What a real API server calls a token in its audit log; the embedded one's are no JWTs. */
const credentialOf = (token: string): string | undefined => {
  const [, claims] = token.split('.');
  if (claims === undefined) return undefined;
  const { jti } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { jti: string };
  return `JTI=${jti}`;
};

let started = 0;

/** What a manager needs of the control plane that it works on. */
export type ManagerPlace = Pick<ControlPlane, 'api' | 'access' | 'dir' | 'processes'>;

/** Starts `bin/edgeset.ts manager` as a process of the control plane. */
export const startManager = async (plane: ManagerPlace, options: ManagerOptions): Promise<Manager> => {
  const { namespace, link, file = join(root, 'bin', 'edgeset.ts'), args = [] } = options;
  if (!existsSync(file)) throw new Error(`${file} is missing: there is no manager to start`);
  await installRights(plane.api, namespace);
  const token = await mintToken(plane.api, namespace, 'edgeset-manager');
  const credential = credentialOf(token);
  const server = link === undefined ? plane.access.server : `https://127.0.0.1:${link.port}`;
  const name = `manager-${++started}`;
  const kubeconfig = join(plane.dir, `${name}.kubeconfig`);
  await writeFile(kubeconfig, kubeconfigText({ ...plane.access, server, token }, namespace), { mode: 0o600 });
  const [metricsPort, probePort] = await Promise.all([freePort(), freePort()]);
  const child = await plane.processes.start({
    name,
    file: process.execPath,
    args: [
      // As bin/edgeset and the image start it.
      ...MANAGER_FLAGS,
      file,
      'manager',
      `--kubeconfig=${kubeconfig}`,
      `--metrics-bind-address=127.0.0.1:${metricsPort}`,
      `--health-probe-bind-address=127.0.0.1:${probePort}`,
      ...args,
    ],
    env: { ...process.env, MALLOC_ARENA_MAX: '1' },
  });
  return {
    user: `system:serviceaccount:${namespace}:edgeset-manager`,
    ...(credential !== undefined && { credential }),
    pid: child.pid,
    metrics: `http://127.0.0.1:${metricsPort}`,
    probes: `http://127.0.0.1:${probePort}`,
    exit: child.exit,
    kill: (signal) => child.kill(signal),
    pause: () => child.pause(),
    resume: () => child.resume(),
    log: () => child.log(),
    stop: () => child.stop(30_000),
  };
};
