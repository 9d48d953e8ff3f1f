import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestAuthority, HopelessError } from '../support/index.ts';
import { type Access, type Api, createApi } from './api.ts';
import { findPrograms, mutatingPolicies } from './controlplane/build.ts';
import { type Delays, kwokConfig } from './kwok.ts';
import { createProcesses, type Processes, type Program, untilReady } from './processes.ts';

export interface ControlPlaneOptions {
  /** A node whose lease is this old is not ready: long enough for a busy machine to renew it in time. Default 8. */
  graceSeconds?: number;
  delays?: Partial<Delays>;
  /** Where the API server listens. Default 127.0.0.1. */
  address?: string;
  /** Names of nodes that have a kubelet of their own. Each finds its credentials in `<dir>/<name>.kubeconfig`. */
  kubelets?: readonly string[];
  /**
   * What kube-controller-manager may send, without the DaemonSet controller: requests a second, and at once. Default 300 and 600;
   * Kubernetes' own are 20 and 30.
   */
  limits?: { qps: number; burst: number };
}

export type ProgramName =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'daemonset-controller'
  | 'kube-scheduler'
  | 'kwok';

export interface ControlPlane {
  /** Holds everything, logs included; gone after `stop`. */
  readonly dir: string;
  /** Of cluster-admin. */
  readonly access: Access;
  readonly api: Api;
  readonly auditLog: string;
  /** Signs client certificates: by way of CertificateSigningRequests, once they are approved. PEM. */
  readonly clientAuthority: string;
  readonly programs: Readonly<Record<ProgramName, Program>>;
  /** Starts further programs that end with the control plane. */
  readonly processes: Processes;
  /**
   * Ends the API server and starts it again on the same port and data; resolves when it is ready. Default SIGKILL: after
   * SIGTERM it serves its open watches for another minute.
   */
  restartApiServer(signal?: NodeJS.Signals): Promise<void>;
  /** Starts a program again that was killed. */
  restart(name: ProgramName): Promise<void>;
  /** Throws when a program has ended by itself: nothing can be waited for then. Killed ones are let be. */
  mustRun(): void;
  stop(): Promise<void>;
}

// The first is the user of the tests.
const users = {
  admin: ['admin', 'system:masters'],
  kwok: ['system:kwok', 'system:masters'],
  manager: ['system:kube-controller-manager', 'system:masters'],
  scheduler: ['system:kube-scheduler', ''],
} as const;

// Below the range that the kernel takes the ports of outgoing connections from. Two suites that run at the same time must
// not find the same port free: each process takes a part of the range for itself by holding the part's first port.
const FIRST_PORT = 12_000;
const PARTS = 18;
const PORTS = 1_000;
let part: Promise<number> | undefined;
let next = 0;

const listen = (port: number): Promise<Server | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });

const isFree = async (port: number): Promise<boolean> => {
  const server = await listen(port);
  if (!server) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
};

const takePart = async (): Promise<number> => {
  for (let index = 0; index < PARTS; index += 1) {
    const first = FIRST_PORT + index * PORTS;
    const server = await listen(first);
    if (!server) continue;
    server.unref();
    return first;
  }
  throw new Error(`${PARTS} processes hold ports of test clusters already`);
};

export const freePort = async (): Promise<number> => {
  part ??= takePart();
  const first = await part;
  for (let tries = 1; tries < PORTS; tries += 1) {
    const port = first + 1 + (next % (PORTS - 1));
    next += 1;
    if (await isFree(port)) return port;
  }
  throw new Error(`no port from ${first} to ${first + PORTS - 1} is free on 127.0.0.1`);
};

/** A kubeconfig of one cluster and one user. */
export const kubeconfigText = ({ server, ca, token }: Access, namespace = 'default'): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'edgeset',
    clusters: [
      { name: 'edgeset', cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
    ],
    users: [{ name: 'edgeset', user: { token } }],
    contexts: [{ name: 'edgeset', context: { cluster: 'edgeset', user: 'edgeset', namespace } }],
  });

// The controllers that DaemonSets, nodes and namespaces need; the others would only cost start-up time.
const controllers = [
  'node-lifecycle-controller',
  'taint-eviction-controller',
  'pod-garbage-collector-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'serviceaccount-controller',
  'deployment-controller',
  'replicaset-controller',
  'disruption-controller',
  'clusterrole-aggregation-controller',
  'certificatesigningrequest-signing-controller',
  'root-ca-certificate-publisher-controller',
];

/** So that no test waits for the limits of a client. */
const FAST = { qps: 300, burst: 600 };

/** A real control plane on loopback, in its own folder. Up in seconds; ends with `stop` or with this process. */
export const startControlPlane = async (options: ControlPlaneOptions = {}): Promise<ControlPlane> => {
  const files = await findPrograms();
  const dir = await mkdtemp(join(tmpdir(), 'edgeset-cluster-'));
  const processes = createProcesses(dir);
  try {
    return await start(dir, processes, files, {
      graceSeconds: 8,
      delays: {},
      address: '127.0.0.1',
      kubelets: [],
      limits: FAST,
      ...options,
    });
  } catch (error) {
    await processes.close();
    throw error;
  }
};

const start = async (
  dir: string,
  processes: Processes,
  files: Awaited<ReturnType<typeof findPrograms>>,
  { graceSeconds, delays, address, kubelets, limits }: Required<ControlPlaneOptions>,
): Promise<ControlPlane> => {
  const [etcdPort, peerPort, apiPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const server = `https://${address}:${apiPort}`;
  const path = (name: string): string => join(dir, name);
  const logins = [
    ...Object.entries(users),
    ...kubelets.map((node) => [node, [`system:node:${node}`, 'system:nodes']] as const),
  ].map(([name, [user, group]]) => ({ name, user, group, token: randomBytes(16).toString('hex') }));
  const tokenFile = logins
    .map(({ token, user, group }) => `${token},${user},${user}${group ? `,${group}` : ''}`)
    .join('\n');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const clientAuthority = createTestAuthority();
  await Promise.all([
    writeFile(path('client-ca.crt'), clientAuthority.cert),
    writeFile(path('client-ca.key'), clientAuthority.key, { mode: 0o600 }),
    writeFile(path('tokens.csv'), tokenFile, { mode: 0o600 }),
    writeFile(path('sa.key'), privateKey.export({ type: 'sec1', format: 'pem' }), { mode: 0o600 }),
    writeFile(path('audit.log'), ''),
    kwokConfig(Math.max(1, Math.floor(graceSeconds * 0.8)), delays).then((text) => writeFile(path('kwok.yaml'), text)),
  ]);

  const launch: Record<ProgramName, () => Promise<Program>> = {
    etcd: () =>
      processes.start({
        name: 'etcd',
        file: files.etcd,
        args: [
          '--unsafe-no-fsync',
          `--data-dir=${path('etcd')}`,
          `--listen-client-urls=http://127.0.0.1:${etcdPort}`,
          `--advertise-client-urls=http://127.0.0.1:${etcdPort}`,
          `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
          `--initial-advertise-peer-urls=http://127.0.0.1:${peerPort}`,
          `--initial-cluster=default=http://127.0.0.1:${peerPort}`,
          '--log-level=warn',
        ],
      }),
    'kube-apiserver': () =>
      processes.start({
        name: 'kube-apiserver',
        file: files['kube-apiserver'],
        args: [
          `--etcd-servers=http://127.0.0.1:${etcdPort}`,
          `--secure-port=${apiPort}`,
          `--bind-address=${address}`,
          `--advertise-address=${address}`,
          `--cert-dir=${path('certs')}`,
          '--endpoint-reconciler-type=none',
          '--service-cluster-ip-range=10.96.0.0/16',
          `--token-auth-file=${path('tokens.csv')}`,
          `--client-ca-file=${path('client-ca.crt')}`,
          '--authorization-mode=Node,RBAC',
          '--enable-admission-plugins=NodeRestriction',
          '--allow-privileged',
          '--service-account-issuer=https://kubernetes.default.svc',
          `--service-account-key-file=${path('sa.key')}`,
          `--service-account-signing-key-file=${path('sa.key')}`,
          `--audit-policy-file=${join(import.meta.dirname, 'audit-policy.yaml')}`,
          `--audit-log-path=${path('audit.log')}`,
          '--audit-log-mode=blocking-strict',
          // One file for ever: readers follow it by offset.
          '--audit-log-maxsize=1000000',
          '--feature-gates=MutatingAdmissionPolicy=true',
          `--runtime-config=admissionregistration.k8s.io/${mutatingPolicies()}=true`,
          '--max-requests-inflight=1600',
          '--max-mutating-requests-inflight=800',
          '--shutdown-delay-duration=0s',
          '--profiling=false',
        ],
      }),
    'kube-controller-manager': () => manager('kube-controller-manager', controllers, limits),
    // By itself, so that it can be paused while the node controller continues.
    'daemonset-controller': () => manager('daemonset-controller', ['daemonset-controller']),
    'kube-scheduler': async () => {
      await writeFile(
        path('kube-scheduler.yaml'),
        JSON.stringify({
          apiVersion: 'kubescheduler.config.k8s.io/v1',
          kind: 'KubeSchedulerConfiguration',
          clientConnection: { kubeconfig: path('scheduler.kubeconfig'), qps: 300, burst: 600 },
          leaderElection: { leaderElect: false },
        }),
      );
      return processes.start({
        name: 'kube-scheduler',
        file: files['kube-scheduler'],
        args: [`--config=${path('kube-scheduler.yaml')}`, '--secure-port=0'],
      });
    },
    kwok: () =>
      processes.start({
        name: 'kwok',
        file: files.kwok,
        args: [`--kubeconfig=${path('kwok.kubeconfig')}`, `--config=${path('kwok.yaml')}`],
        // kwok reads and writes ~/.kwok.
        env: { ...process.env, HOME: dir },
      }),
  };
  const manager = (name: string, names: string[], { qps, burst } = FAST): Promise<Program> =>
    processes.start({
      name,
      file: files['kube-controller-manager'],
      args: [
        `--kubeconfig=${path('manager.kubeconfig')}`,
        '--leader-elect=false',
        '--secure-port=0',
        `--controllers=${names.join(',')}`,
        `--service-account-private-key-file=${path('sa.key')}`,
        `--root-ca-file=${path('certs/apiserver.crt')}`,
        `--cluster-signing-cert-file=${path('client-ca.crt')}`,
        `--cluster-signing-key-file=${path('client-ca.key')}`,
        // Each period, it looks at all nodes: often is too often for large clusters, whose grace period is long.
        `--node-monitor-period=${Math.min(graceSeconds / 16, 5)}s`,
        `--node-monitor-grace-period=${graceSeconds}s`,
        `--kube-api-qps=${qps}`,
        `--kube-api-burst=${burst}`,
        '--concurrent-daemonset-syncs=8',
      ],
    });

  const etcd = await launch.etcd();
  const apiServer = await launch['kube-apiserver']();
  // The certificate is self-signed, and its file holds the authority too.
  let access: Access | undefined;
  let api: Api | undefined;
  const ready = async (): Promise<boolean> => {
    const ca = await readFile(path('certs/apiserver.crt'), 'utf8');
    // What was read before may have been half of the file.
    if (!api || access?.ca !== ca) {
      await api?.close();
      access = { server, ca, token: logins[0]?.token ?? '' };
      api = createApi(access);
    }
    return (await api.text('/readyz')) === 'ok';
  };
  await untilReady(apiServer, ready, 60_000);
  if (!access || !api) throw new Error('the API server wrote no certificate');

  await Promise.all(
    logins.map(({ name, token }) =>
      writeFile(path(`${name}.kubeconfig`), kubeconfigText({ ...(access as Access), token }), { mode: 0o600 }),
    ),
  );
  const [controllerManager, daemonSets, scheduler, kwok] = await Promise.all([
    launch['kube-controller-manager'](),
    launch['daemonset-controller'](),
    launch['kube-scheduler'](),
    launch.kwok(),
  ]);
  const programs: Record<ProgramName, Program> = {
    etcd,
    'kube-apiserver': apiServer,
    'kube-controller-manager': controllerManager,
    'daemonset-controller': daemonSets,
    'kube-scheduler': scheduler,
    kwok,
  };

  const restart = async (name: ProgramName): Promise<void> => {
    programs[name] = await launch[name]();
    // Beside all else that runs by then: it takes longer than the first time.
    if (name === 'kube-apiserver') await untilReady(programs[name], ready, 120_000);
  };
  return {
    dir,
    access,
    api,
    auditLog: path('audit.log'),
    clientAuthority: clientAuthority.cert,
    programs,
    processes,
    restart,
    mustRun() {
      for (const { name, ended, logFile } of Object.values(programs)) {
        if (typeof ended === 'number')
          throw new HopelessError(`${name} ended with ${ended}; its last words are in ${logFile}`);
      }
    },
    async restartApiServer(signal = 'SIGKILL') {
      const old = programs['kube-apiserver'];
      old.kill(signal);
      await old.exit;
      await restart('kube-apiserver');
    },
    async stop() {
      await api?.close();
      await processes.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
};
