import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manager } from '../../conformance/index.ts';
import { eventually } from '../../support/index.ts';
import { kubectl, kubectlApply, type RealCluster, runManager } from '../index.ts';
import { chart } from './helm.ts';

const edit = (file: string, from: string | RegExp, to: string): void => {
  const text = readFileSync(file, 'utf8');
  const edited = text.replace(from, to);
  if (edited === text) throw new Error(`${file} has no ${from}`);
  writeFileSync(file, edited);
};

/** A printer column that the earlier chart's CRD lacks. */
export const NEW_COLUMN = 'Target';

/** The chart as an earlier version may have been: other numbers, and a CRD with a column less. No release exists yet. */
export const writeEarlierChart = (folder: string): string => {
  const copy = join(folder, 'edgeset');
  cpSync(chart, copy, { recursive: true });
  edit(join(copy, 'Chart.yaml'), /^version: .*$/m, 'version: 0.0.9');
  edit(join(copy, 'Chart.yaml'), /^appVersion: .*$/m, 'appVersion: 0.0.9');
  const column = new RegExp(`^ {8}- name: ${NEW_COLUMN}\\n(?: {10}.*\\n)+`, 'm');
  edit(join(copy, 'files', 'crds', 'edgeset.io_daemonrollouts.yaml'), column, '');
  return copy;
};

/** Starts a manager as the Deployment of a release would: with its flags, and with exactly the rights of its ServiceAccount. */
export const runInstalled = async (
  cluster: RealCluster,
  namespace: string,
  deployment = 'edgeset-manager',
): Promise<Manager> => {
  const args = 'jsonpath={.spec.template.spec.containers[0].args}';
  const found = await kubectl(cluster.kubeconfig, ['get', 'deployment', deployment, '-n', namespace, '-o', args]);
  const flags = (JSON.parse(found) as string[]).filter((arg) => arg.startsWith('--') && !arg.includes('bind-address'));
  // A pod's own namespace is what it takes by default.
  return runManager(cluster.plane, { namespace, args: [`--leader-election-namespace=${namespace}`, ...flags] });
};

/** How often the API server refused a manager a request. */
export const forbiddenRequests = async (manager: Manager): Promise<number> => {
  const text = await (await fetch(`${manager.metrics}/metrics`)).text();
  return [...text.matchAll(/^rest_client_requests_total\{code="403".*\} (\d+)$/gm)].reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  );
};

export interface Web {
  create(annotations?: Readonly<Record<string, string>>): Promise<void>;
  setImage(image: string): Promise<unknown>;
  annotate(annotation: string): Promise<unknown>;
  /** Resolves when this many nodes run the image. */
  running(image: string, nodes: number): Promise<unknown>;
  complete(): Promise<unknown>;
}

const within = { everyMs: 200 };

/** DaemonSet `web` in a namespace; a native one unless `apiVersion` says otherwise. */
export const webIn = ({ kubeconfig }: RealCluster, namespace: string, apiVersion = 'apps/v1'): Web => {
  const run = (...args: string[]): Promise<string> => kubectl(kubeconfig, [...args, '--namespace', namespace]);
  const isNative = apiVersion === 'apps/v1';
  const name = `${isNative ? 'daemonsets.apps' : 'daemonsets.apps.kruise.io'}/web`;
  const patch = (body: object): Promise<string> => run('patch', name, '--type=merge', '-p', JSON.stringify(body));
  return {
    create: async (annotations = {}) => {
      await kubectlApply(kubeconfig, {
        apiVersion,
        kind: 'DaemonSet',
        metadata: {
          name: 'web',
          namespace,
          annotations: { ...(isNative && { 'apps.openyurt.io/update-strategy': 'auto' }), ...annotations },
        },
        spec: {
          selector: { matchLabels: { app: 'web' } },
          ...(isNative && { updateStrategy: { type: 'OnDelete' } }),
          template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:v1' }] } },
        },
      });
    },
    setImage: (image) => patch({ spec: { template: { spec: { containers: [{ name: 'web', image }] } } } }),
    annotate: (annotation) => run('annotate', '--overwrite', name, annotation),
    running: (image, nodes) =>
      eventually(
        `${nodes} nodes run ${image}`,
        async () => {
          const columns = 'custom-columns=I:.spec.containers[0].image,R:.status.phase,D:.metadata.deletionTimestamp';
          const pods = (await run('get', 'pods', '-l', 'app=web', '--no-headers', '-o', columns)).trim().split('\n');
          return pods.filter((pod) => new RegExp(`^${image} +Running +<none>$`).test(pod)).length === nodes;
        },
        within,
      ),
    complete: () =>
      eventually(
        'the rollout is complete',
        async () => {
          const complete = '{.status.conditions[?(@.type=="Complete")].status}';
          const rollout = ['dro', isNative ? 'web' : 'web.apps.kruise.io', '--ignore-not-found'];
          return (await run('get', ...rollout, '-o', `jsonpath=${complete}`)) === 'True';
        },
        within,
      ),
  };
};
