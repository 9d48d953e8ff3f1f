import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startCluster } from '../cluster/index.ts';
import type { Cluster } from '../conformance/index.ts';
import { eventually } from '../support/index.ts';
import { startEmbeddedCluster } from './cluster.ts';
import { normalize } from './parity/normalize.ts';
import { type Outcome, runKubectl } from './parity/servers.ts';

const NODES = ['edge-1', 'edge-2', 'edge-3'];

const WEB = `---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      initContainers: [{name: once, image: 'busybox:1'}]
      containers: [{name: c, image: 'nginx:1'}]
`;

/** What differs by nature: random names, Go's hash of a template, what kwok or the embedded kubelet makes up. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/\bweb-[a-z0-9]{5}\b/g, 'web-RAND'],
  [/(controller-revision-hash[:=] ?|\bweb-)[a-z0-9]{8,10}\b/g, '$1HASH'],
  [/\b(172|10)\.\d+\.\d+\.\d+/g, 'IP'],
  [/(simulated|containerd):\/\/\d\.[\d.]+/g, 'RUNTIME'],
  [/(containerd|docker-pullable|sha256):[/0-9a-z]+/g, 'ID'],
  // kwok's pods have no hostIPs.
  [/^ hostIPs:\n - ip: IP\n/gm, ''],
];

const shown = (outcome: Outcome): Outcome => {
  const { code, out, err } = normalize(outcome);
  const plain = (from: string): string => RULES.reduce((text, [pattern, into]) => text.replace(pattern, into), from);
  return { code, out: plain(out), err: plain(err) };
};

/** Lines of a rollout's progress depend on when the status was written. */
const lastLine = (outcome: Outcome): Outcome => ({ ...outcome, out: outcome.out.trim().split('\n').at(-1) ?? '' });

const ON_FIRST = '--field-selector spec.nodeName=edge-1';

/** Run in this order while the controllers and kubelets of both clusters work. */
const COMMANDS = [
  'get nodes',
  'get nodes -o wide',
  'get pods -o wide --sort-by=.spec.nodeName',
  `get pods -o yaml ${ON_FIRST}`,
  `get pods ${ON_FIRST} -o jsonpath={.items[*].status.conditions[*].type}`,
  'get ds -o wide',
  'get ds web -o yaml',
  'describe ds web',
  'get controllerrevisions',
  'get all',
  'rollout history ds/web',
  'rollout history ds/web --revision=1',
  'wait pods --all --for=condition=Ready --timeout=9s',
  'wait ds/web --for=jsonpath={.status.numberReady}=3 --timeout=5s',
  'drain edge-1',
  'uncordon edge-1',
];

describe('kubectl shows the same of a running cluster', { timeout: 300_000 }, () => {
  let clusters: readonly [real: Cluster, embedded: Cluster];
  const onBoth = async (command: string, stdin = ''): Promise<readonly Outcome[]> =>
    Promise.all(
      clusters.map(({ kubeconfig }) =>
        runKubectl(command, { PATH: process.env.PATH, HOME: dirname(kubeconfig), KUBECONFIG: kubeconfig }, stdin),
      ),
    );
  const compare = async (command: string, as: (outcome: Outcome) => Outcome = shown): Promise<void> => {
    const [real, embedded] = await onBoth(command);
    assert.ok(real && embedded);
    assert.deepEqual(as(embedded), as(real));
  };

  /** For commands that only read: the controllers of both clusters write at their own pace. */
  const compareSoon = async (command: string): Promise<void> => {
    const isSame = (): Promise<boolean> => compare(command).then(() => true);
    await eventually(`both show the same for ${command}`, isSame, { everyMs: 500 });
  };

  before(async () => {
    clusters = await Promise.all([startCluster(), startEmbeddedCluster()]);
    await Promise.all(clusters.map((cluster) => cluster.addNodes(NODES)));
    for (const { code, err } of await onBoth('apply -f -', WEB)) assert.equal(code, 0, err);
    await onBoth('rollout status ds/web --timeout=60s');
  });
  after(() => Promise.all(clusters.map((cluster) => cluster.stop())));

  for (const command of COMMANDS)
    it(`kubectl ${command}`, () => (/^(get|describe)/.test(command) ? compareSoon(command) : compare(command)));

  it('of each pod', async () => {
    const descriptions = await Promise.all(
      clusters.map(async ({ kubeconfig }) => {
        const env = { PATH: process.env.PATH, HOME: dirname(kubeconfig), KUBECONFIG: kubeconfig };
        const { out } = await runKubectl(`get pods ${ON_FIRST} -o name`, env);
        const described = shown(await runKubectl(`describe ${out.trim()}`, env));
        // kwok has no Events of containers.
        return { ...described, out: described.out.replace(/^Events:[\s\S]*/m, '') };
      }),
    );
    assert.match(descriptions[0]?.out ?? '', /^Conditions:$/m);
    assert.deepEqual(descriptions[1], descriptions[0]);
  });

  it('of a rollout and its undoing', async () => {
    await onBoth('set image ds/web c=nginx:2');
    await compare('rollout status ds/web --timeout=60s', lastLine);
    await compare('rollout history ds/web');
    await compare('rollout undo ds/web');
    await compare('rollout status ds/web --timeout=60s', lastLine);
  });

  it('of a node that is offline', async () => {
    await Promise.all(clusters.map((cluster) => cluster.offline(['edge-2'])));
    let looks = 0;
    await eventually(
      'both no longer want a pod on it',
      async () => {
        // A taint alone does not make Kubernetes' controller count again, and it may come after the pod's change, which does.
        looks += 1;
        await onBoth(`annotate ds web looks=${looks} --overwrite`);
        const counts = await onBoth('get ds web -o jsonpath={.status.desiredNumberScheduled}');
        assert.deepEqual(
          counts.map(({ out }) => out),
          ['2', '2'],
        );
        return true;
      },
      { everyMs: 500 },
    );
    for (const command of [
      'get nodes',
      'get ds web',
      'get pods -o wide --sort-by=.spec.nodeName',
      'get nodes edge-2 -o jsonpath={.spec.taints[*].key}',
    ])
      await compareSoon(command);
  });
});
