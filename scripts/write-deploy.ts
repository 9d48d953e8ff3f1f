// Renders the chart into deploy/, for those who install without Helm: npm run generate. Needs Go, which builds Helm once.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { findHelm } from '../test/cluster/helm/programs.ts';

const root = path.join(import.meta.dirname, '..');

interface Rendered {
  /** In the chart's folder of templates. */
  template: string;
  values?: readonly string[];
  /** What the file is for, where the template's own comments don't say it. */
  comment?: string;
  /** Only the first object. */
  first?: boolean;
  /** `kubectl apply --namespace` chooses it. */
  anyNamespace?: boolean;
}

const agent = ['agent.enabled=true', 'agent.namespaces={default}'];
const dashboard = ['dashboard.enabled=true', 'dashboard.tls.secretName=edgeset-dashboard-tls'];
const reach = ['reach.enabled=true'];
const checkSecrets = 'checks.secrets[0]';

const FILES: Readonly<Record<string, Rendered>> = {
  'manager.yaml': { template: 'manager/deployment.yaml' },
  'rbac.yaml': { template: 'manager/rbac.yaml' },
  'advanced/rbac.yaml': { template: 'manager/rbac-advanced.yaml' },
  'predownload/rbac.yaml': { template: 'manager/rbac-predownload.yaml' },
  'policy.yaml': {
    template: 'manager/policy.yaml',
    values: ['controllers={native}'],
    comment:
      'For native DaemonSets only. advanced/policy.yaml replaces the policy edgeset-manager where Advanced DaemonSets are served.',
  },
  'advanced/policy.yaml': {
    template: 'manager/policy.yaml',
    first: true,
    comment: 'Replaces the policy of this name of ../policy.yaml, which serves native DaemonSets only.',
  },
  'approval-policy.yaml': { template: 'manager/approval-policy.yaml' },
  'user-roles.yaml': { template: 'manager/user-roles.yaml' },
  'checks/analysis.yaml': { template: 'manager/rbac-analysis.yaml', values: ['checks.analysis.enabled=true'] },
  'checks/secrets.yaml': {
    template: 'manager/check-secrets.yaml',
    values: [`${checkSecrets}.namespace=default`, `${checkSecrets}.secrets={name-of-a-secret}`],
    anyNamespace: true,
    comment: `For checks of rollout plans that need credentials or an authority: name their Secrets, then
  kubectl apply --namespace NAMESPACE -f deploy/checks/secrets.yaml
with the namespace of the plan, or of the manager for a ClusterRolloutPlan.`,
  },
  'flow-control.yaml': {
    template: 'manager/flow-control.yaml',
    comment: 'Change the namespace in both objects if you install the manager elsewhere.',
  },
  'dashboard/dashboard.yaml': {
    template: 'dashboard/deployment.yaml',
    values: dashboard,
    comment: `For everybody who has a token of the cluster. Create the Secret edgeset-dashboard-tls with its certificate, and name the host
by which browsers reach it in --allowed-host, then
  kubectl apply -f deploy/dashboard`,
  },
  'dashboard/rbac.yaml': { template: 'dashboard/rbac.yaml', values: dashboard },
  'multicluster/reach/reach.yaml': {
    template: 'reach/deployment.yaml',
    values: reach,
    comment: `For the hub of many clusters, with the manager or without it. Name your image of the manager below, then
  kubectl apply -f deploy/namespace.yaml
  kubectl apply -f deploy/multicluster/reach`,
  },
  'multicluster/reach/rbac.yaml': { template: 'reach/rbac.yaml', values: reach },
  'multicluster/reach/policy.yaml': { template: 'reach/policy.yaml', values: reach },
  'agent/namespace.yaml': { template: 'agent/namespace.yaml', values: agent },
  'agent/rbac.yaml': {
    template: 'agent/rbac.yaml',
    values: agent,
    comment: 'access/in-namespace.yaml and access/in-all-namespaces.yaml bind the role.',
  },
  'agent/policy.yaml': { template: 'agent/policy.yaml', values: agent },
  'agent/daemonset.yaml': { template: 'agent/daemonset.yaml', values: agent },
  'agent/access/in-namespace.yaml': {
    template: 'agent/access.yaml',
    values: agent,
    anyNamespace: true,
    comment: `Permissions of the agents in one namespace:
  kubectl apply --namespace NAMESPACE -f deploy/agent/access/in-namespace.yaml
Name the same namespaces in the agents' flag --namespaces.`,
  },
  'agent/access/in-all-namespaces.yaml': {
    template: 'agent/access.yaml',
    values: ['agent.enabled=true', 'agent.allNamespaces=true'],
    comment: `Use this instead of in-namespace.yaml for agents without --namespaces. Every agent can then read the pods of every
namespace, environment variables included. Writes are still restricted to opted-in pods of its own node.`,
  },
  'agent/access/read-node.yaml': {
    template: 'agent/read-node.yaml',
    values: [...agent, 'agent.readNode=true'],
    comment: `For agents with the flag --read-node, which show their owners the names that the Node has for the device and its administrator, and how
large the images are:
  kubectl apply -f deploy/agent/access/read-node.yaml
From then on, every agent can read every Node.`,
  },
  'agent/access/revoked.yaml': {
    template: 'agent/revoked.yaml',
    values: ['agent.revokedNodes={name-of-a-stolen-node}'],
    comment: `For stolen devices whose client certificates are still valid: list their nodes, then
  kubectl apply -f deploy/agent/access/revoked.yaml
From then on, writes of their agents are refused, whatever else permits them.`,
  },
};

/** Labels that say how a release was installed: with Helm. */
const OF_HELM = /^ *(helm\.sh\/chart|app\.kubernetes\.io\/(instance|version|managed-by)): .*\n/gm;

const render = (helm: string, { template, values = [], comment, anyNamespace, first }: Rendered): string => {
  const args = ['template', 'edgeset', path.join(root, 'charts', 'edgeset'), '--namespace=edgeset-system'];
  const sets = values.flatMap((value) => ['--set', value]);
  const text = execFileSync(helm, [...args, ...sets, `--show-only=templates/${template}`], { encoding: 'utf8' });
  const objects = text
    .split(/^---\n/m)
    .filter(Boolean)
    .slice(0, first ? 1 : undefined);
  const written = objects.map((object) => {
    const own = object.replace(/^# Source: .*\n/, '').replaceAll(OF_HELM, '');
    return `${(anyNamespace ? own.replace(/^ {2}namespace: default\n/m, '') : own).trim()}\n`;
  });
  const header = [
    'Written by scripts/write-deploy.ts from charts/edgeset: change it there.',
    ...(comment?.split('\n') ?? []),
  ];
  return `${header.map((line) => `# ${line}\n`).join('')}${written.join('---\n')}`;
};

/** The files of deploy/ that come from the chart, by their absolute path. */
export const renderDeploy = async (): Promise<Map<string, string>> => {
  const { helm } = await findHelm();
  return new Map(Object.entries(FILES).map(([file, from]) => [path.join(root, 'deploy', file), render(helm, from)]));
};

if (import.meta.main) for (const [file, content] of await renderDeploy()) writeFileSync(file, content);
