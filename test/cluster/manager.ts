import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { MANAGER_FLAGS } from '../../bin/flags.ts';
import type { Manager, ManagerOptions } from '../conformance/index.ts';
import type { Api, Json } from './api.ts';
import { installCrd } from './controlplane/crd.ts';
import { type ControlPlane, freePort, kubeconfigText } from './controlplane.ts';
import { shippedProgram } from './shipped.ts';

const root = join(import.meta.dirname, '..', '..');

/** Kinds of `deploy/` that a manager outside the cluster needs, and where they live. */
const kinds: Record<string, { path: string; namespaced: boolean }> = {
  ClusterRole: { path: '/apis/rbac.authorization.k8s.io/v1/clusterroles', namespaced: false },
  ClusterRoleBinding: { path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', namespaced: false },
  Role: { path: '/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles', namespaced: true },
  RoleBinding: { path: '/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings', namespaced: true },
  ServiceAccount: { path: '/api/v1/namespaces/{namespace}/serviceaccounts', namespaced: true },
  ValidatingAdmissionPolicy: {
    path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
    namespaced: false,
  },
  ValidatingAdmissionPolicyBinding: {
    path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
    namespaced: false,
  },
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

/**
 * Every object of the YAML files under `deploy/`, once: install.yaml has those of the others, too, and policy.yaml the policy for native
 * DaemonSets only. The agents (agent.ts), the dashboard and what is for many clusters have rights of their own.
 */
const readManifests = async (): Promise<Manifest[]> => {
  const folder = join(root, 'deploy');
  const files = (await readdir(folder, { recursive: true }))
    .filter((file) => /\.ya?ml$/.test(file) && !/^(agent\/|dashboard\/|multicluster\/|policy\.yaml$)/.test(file))
    .toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  const objects = texts
    .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Manifest | null))
    .filter((object) => object !== null);
  return [...new Map(objects.map((object) => [`${object.kind}/${object.metadata?.name}`, object])).values()];
};

/** They don't change, and reading them takes as long as starting a manager. */
let shipped: Promise<readonly Manifest[]> | undefined;

/** What was applied to a control plane for all namespaces, by path. */
const installed = new WeakMap<Api, Map<string, Promise<unknown>>>();

/** An object of a manager, as if it had been installed into `namespace`. Bindings get a name of their own, so that they add up. */
const moveTo = (namespace: string, object: Manifest): Manifest => {
  const metadata = { ...object.metadata };
  if (kinds[object.kind]?.namespaced) metadata.namespace = namespace;
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
};

const pathOf = (namespace: string, { kind, metadata }: Manifest): string =>
  `${kinds[kind]?.path.replace('{namespace}', namespace)}/${metadata.name}`;

/**
 * Gives the ServiceAccounts of `deploy/` their rights, as if it had been installed into `namespace`: once for each control plane
 * what is the same for all namespaces.
 */
export const installRights = async (api: Api, namespace: string): Promise<void> => {
  const all = (await (shipped ??= readManifests())).filter(({ kind }) => kind in kinds);
  const before = installed.get(api) ?? new Map<string, Promise<unknown>>();
  installed.set(api, before);
  const install = async (object: Manifest): Promise<void> => {
    if (object.kind === 'CustomResourceDefinition') await installCrd(api, object);
    else await api.apply(pathOf(namespace, object), object);
  };
  const own = all.filter(({ kind }) => kinds[kind]?.namespaced || kind === 'ClusterRoleBinding');
  const shared = all.filter((object) => !own.includes(object));
  const installOnce = (object: Manifest): Promise<unknown> => {
    const path = pathOf(namespace, object);
    const known = before.get(path);
    if (known) return known;
    const first = install(object);
    before.set(path, first);
    first.catch(() => before.delete(path));
    return first;
  };
  await Promise.all(shared.map(installOnce));
  await Promise.all(own.map((object) => install(moveTo(namespace, object))));
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

/** `env`: variables of its environment besides those of this process. */
type ProcessOptions = ManagerOptions & { env?: NodeJS.ProcessEnv };

/** Starts the manager as a process of the control plane, with the rights of `deploy/`. */
export const startManager = async (plane: ManagerPlace, options: ProcessOptions): Promise<Manager> => {
  await installRights(plane.api, options.namespace);
  return runManager(plane, options);
};

/** Starts it with the rights that its ServiceAccount in `namespace` has. */
export const runManager = async (plane: ManagerPlace, options: ProcessOptions): Promise<Manager> => {
  const { namespace, link, clockAheadMs = 0, unreadable = false, args = [], env } = options;
  const file = await shippedProgram('manager');
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
      // As the image starts it.
      ...MANAGER_FLAGS,
      ...(clockAheadMs === 0 ? [] : ['--import', join(import.meta.dirname, 'shifted-clock.ts')]),
      ...(unreadable ? ['--import', join(import.meta.dirname, 'unreadable.ts')] : []),
      file,
      'manager',
      `--kubeconfig=${kubeconfig}`,
      `--metrics-bind-address=127.0.0.1:${metricsPort}`,
      `--health-probe-bind-address=127.0.0.1:${probePort}`,
      ...args,
    ],
    env: { ...process.env, MALLOC_ARENA_MAX: '1', EDGESET_TEST_CLOCK_AHEAD_MS: String(clockAheadMs), ...env },
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
