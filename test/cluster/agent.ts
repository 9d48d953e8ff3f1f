import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AGENT_FLAGS } from '../../bin/flags.ts';
import type { Agent, AgentOptions } from '../conformance/index.ts';
import { eventually } from '../support/index.ts';
import { ApiError, orMissing } from './api.ts';
import { type ControlPlane, kubeconfigText } from './controlplane.ts';
import { type Program, untilReady } from './processes.ts';
import { shippedProgram } from './shipped.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const deploy = join(root, 'deploy', 'agent');

/** Where `deploy/agent` puts the agents, and as which user they speak. */
export const agentNamespace = 'edgeset-agent';
const account = 'edgeset-agent';
export const agentUser = `system:serviceaccount:${agentNamespace}:${account}`;

/** What an agent needs of the control plane that it works on. */
export type AgentPlace = Pick<ControlPlane, 'api' | 'access' | 'dir' | 'processes'>;

/** Says how agents come by their rights; where there are none to give, by nothing. */
export interface AgentRights {
  install(): Promise<void>;
  /** In one namespace, or in all. */
  bind(namespace: string | undefined): Promise<void>;
}

/** Applies `deploy/agent` with kubectl, without bindings; resolves when the API server enforces the policy. */
export const agentRights = (kubeconfig: string): AgentRights => {
  const kubectl = (...args: string[]) => run('kubectl', [`--kubeconfig=${kubeconfig}`, ...args]);
  let installed: Promise<unknown> | undefined;
  const install = async (): Promise<void> => {
    const files = ['namespace.yaml', 'rbac.yaml', 'policy.yaml'].flatMap((file) => ['-f', join(deploy, file)]);
    await kubectl('apply', ...files);
    const probe = ['run', 'probe', '--image=probe', '--dry-run=server'];
    await eventually(
      'the policy on agents is in force',
      () =>
        kubectl(...probe, '--as=edgeset:agent:', '--as-group=system:masters').then(
          () => false,
          (error: Error) => /edgeset agent: these credentials name no node/.test(error.message),
        ),
      { everyMs: 100 },
    );
  };
  return {
    install: async () => void (await (installed ??= install())),
    async bind(namespace) {
      await (namespace === undefined
        ? kubectl('apply', '-f', join(deploy, 'access', 'in-all-namespaces.yaml'))
        : kubectl('apply', `--namespace=${namespace}`, '-f', join(deploy, 'access', 'in-namespace.yaml')));
    },
  };
};

/** A cluster that lets everybody do everything still needs the account that tokens are made for. */
export const noAgentRights = ({ api }: Pick<AgentPlace, 'api'>): AgentRights => {
  const ifMissing = (work: Promise<unknown>): Promise<unknown> =>
    work.catch((error: unknown) => {
      if (!(error instanceof ApiError && error.status === 409)) throw error;
    });
  return {
    async install() {
      await ifMissing(api.post('/api/v1/namespaces', { metadata: { name: agentNamespace } }));
      const accounts = `/api/v1/namespaces/${agentNamespace}/serviceaccounts`;
      await ifMissing(api.post(accounts, { metadata: { name: account } }));
    },
    bind: async () => undefined,
  };
};

interface BoundToken {
  token: string;
  /** Path of the pod that the token is bound to, and dies with. */
  pod: string;
}

/** A token as the kubelet gets it for an agent's pod on `node`: for an hour, with the node's claim. */
export const mintAgentToken = async (
  { api }: Pick<AgentPlace, 'api'>,
  node: string,
  namespace = agentNamespace,
): Promise<BoundToken> => {
  const { metadata } = await api.post<{ metadata: { name: string; uid: string } }>(
    `/api/v1/namespaces/${namespace}/pods`,
    {
      metadata: { generateName: 'edgeset-agent-' },
      spec: {
        nodeName: node,
        serviceAccountName: account,
        automountServiceAccountToken: false,
        tolerations: [{ operator: 'Exists' }],
        containers: [{ name: 'agent', image: 'agent' }],
      },
    },
  );
  const { status } = await api.post<{ status: { token: string } }>(
    `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {
        expirationSeconds: 3600,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: metadata.name, uid: metadata.uid },
      },
    },
  );
  return { token: status.token, pod: `/api/v1/namespaces/${namespace}/pods/${metadata.name}` };
};

interface LogLine {
  msg?: string;
  address?: string;
}

/** Where it serves, as its log says: the ports are its own choice. */
const addressesOf = async (agent: Program): Promise<Pick<Agent, 'url' | 'port' | 'health'>> => {
  const said = async (what: string): Promise<string | undefined> => {
    const lines = (await agent.log()).split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'));
    return lines.map((line) => JSON.parse(line) as LogLine).find(({ msg }) => msg === what)?.address;
  };
  const found: { api: string | undefined; health: string | undefined } = { api: undefined, health: undefined };
  await untilReady(
    agent,
    async () => {
      found.api = await said('serving the API');
      found.health = await said('serving health probes');
      return found.api !== undefined && found.health !== undefined;
    },
    60_000,
  );
  const url = new URL(`http://${found.api}`);
  return { url: url.origin, port: Number(url.port), health: `http://${found.health}` };
};

/**
 * Starts the agent as it is shipped, as a process of the control plane. `accountNamespace`: where its service account is, if it was
 * moved.
 */
export const startAgent = async (
  place: AgentPlace,
  rights: AgentRights,
  options: AgentOptions,
  accountNamespace = agentNamespace,
): Promise<Agent> => {
  const { node, namespace, link, args = [] } = options;
  await rights.install();
  await rights.bind(namespace);
  const { token, pod } = await mintAgentToken(place, node, accountNamespace);
  const dir = await mkdtemp(join(place.dir, `agent-${node}-`));
  const stateDir = options.stateDir ?? join(dir, 'state');
  const server = link === undefined ? place.access.server : `https://127.0.0.1:${link.port}`;
  const kubeconfig = join(dir, 'kubeconfig');
  await writeFile(kubeconfig, kubeconfigText({ ...place.access, server, token }), { mode: 0o600 });
  const uid = process.getuid?.() ?? 0;
  const program = await shippedProgram('agent');
  const child = await place.processes.start({
    name: dir.slice(place.dir.length + 1),
    file: process.execPath,
    args: [
      // As the image starts it.
      ...AGENT_FLAGS,
      program,
      'agent',
      `--kubeconfig=${kubeconfig}`,
      `--node-name=${node}`,
      '--listen=127.0.0.1:0',
      '--health-probe-bind-address=127.0.0.1:0',
      `--state-dir=${stateDir}`,
      // Root is allowed anyway.
      ...(uid === 0 ? [] : [`--allow-user=${uid}`]),
      ...(namespace === undefined ? [] : [`--namespaces=${namespace}`]),
      ...args,
    ],
    env: { ...process.env, MALLOC_ARENA_MAX: '1' },
  });
  const addresses = await addressesOf(child);
  return {
    ...addresses,
    stateDir,
    user: `system:serviceaccount:${accountNamespace}:${account}`,
    pid: child.pid,
    exit: child.exit,
    kill: (signal) => child.kill(signal),
    pause: () => child.pause(),
    resume: () => child.resume(),
    log: () => child.log(),
    async stop() {
      await child.stop(30_000);
      await orMissing(place.api.delete(pod, { gracePeriodSeconds: 0 }));
    },
  };
};
