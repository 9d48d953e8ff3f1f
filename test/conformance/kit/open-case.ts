import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Event } from 'kubernetes-types/events/v1.d.ts';
import { nodeOf } from '../../invariants/index.ts';
import { assertInvariants } from '../../judge/audit/assert-invariants.ts';
import { outagesText } from '../../judge/audit/node-outages.ts';
import { isUpdate } from '../../judge/state/pod-writes.ts';
import type { Cluster, Manager, NodeSpec } from '../cluster.ts';
import type { Link } from '../link.ts';
import type { Api } from './api.ts';
import type { Case, CaseOptions } from './case.ts';
import { createHistory } from './case-history.ts';
import { describeCase, describePodCalls } from './describe-case.ts';
import { kinds } from './kinds.ts';
import { budgetKey, toPodView } from './objects.ts';
import { until } from './until.ts';

const run = promisify(execFile);

/** Creates the namespace, nodes and manager of a case; `finish` checks its whole history. */
export const openCase = async (
  cluster: Cluster,
  api: Api,
  options: CaseOptions,
): Promise<{
  case: Case;
  finish: () => Promise<void>;
  /** For people who investigate a failure: which nodes went offline and came back, and the last log lines and state of the case. */
  diagnostics: () => Promise<{ outages: string; words: string[] }>;
  close: () => Promise<void>;
}> => {
  const namespace = await cluster.createNamespace('c');
  const { nodes: wanted = 3, node, kind = 'native' } = options;
  const { group, path: pathOf, rolloutName, managerArgs } = kinds[kind];
  const nodes = (
    typeof wanted === 'number' ? Array.from({ length: wanted }, (_, index) => `${namespace}-${index}`) : [...wanted]
  ).toSorted();
  const allNodes = new Set<string>(nodes);
  const managers: Manager[] = [];
  const labels = { case: namespace };
  const links = new Set<Link>();

  const addNodes = async (names: readonly string[], spec: NodeSpec = {}): Promise<void> => {
    for (const name of names) allNodes.add(name);
    await cluster.addNodes(names, { ...spec, labels: { ...labels, ...spec.labels } });
  };
  const startManager: Case['startManager'] = async ({ args = ['--leader-elect=false'], ...how } = {}) => {
    const serve = [`--namespaces=${namespace}`, `--leader-election-namespace=${namespace}`, '--log-format=json'];
    if (how.link) links.add(how.link);
    const manager = await cluster.startManager({
      namespace,
      args: [...serve, ...managerArgs, ...args],
      ...how,
    });
    managers.push(manager);
    return manager;
  };
  const first =
    options.manager === 'none'
      ? undefined
      : startManager({ args: ['--leader-elect=false', ...(options.manager ?? [])] });
  await Promise.all([addNodes(nodes, node), first]);

  const setsPath = pathOf(namespace);
  const names = options.daemonSets ?? ['app'];
  const [app] = names;
  const user = `system:serviceaccount:${namespace}:edgeset-manager`;
  const history = createHistory({ audit: cluster.audit, namespace, nodes: allNodes, user });

  const self: Case = {
    cluster,
    api,
    namespace,
    nodes,
    get manager() {
      const [manager] = managers;
      if (!manager) throw new Error('this case has started no manager');
      return manager;
    },
    startManager,
    addNodes,
    create: (shape = {}, other = kind) =>
      api.create(kinds[other].path(namespace, shape.version), kinds[other].make(namespace, shape)),
    async rolledOut(shape = {}) {
      await self.create(shape);
      const { image = 'app:v1' } = shape;
      await self.untilComplete(image);
      // What follows is a change to a rollout that the manager knows.
      await self.untilRecorded();
    },
    async startRollout(image, shape) {
      await self.rolledOut(shape);
      await self.setImage(image);
    },
    daemonSet: (name = app) => api.get(`${setsPath}/${name}`),
    advanced: (name = app) => api.get(`${setsPath}/${name}`),
    // The API server cannot merge lists in custom resources.
    change: (patch, name = app) => api[kind === 'native' ? 'patch' : 'merge'](`${setsPath}/${name}`, patch),
    setImage: (image, name = app) =>
      api.edit(`${setsPath}/${name}`, [
        { op: 'replace', path: '/spec/template/spec/containers/0/image', value: image },
      ]),
    async bringTo(image) {
      await self.setImage(image);
      await self.untilComplete(image);
    },
    annotate: (annotations, name) => self.change({ metadata: { annotations } }, name),

    async pods(name = app) {
      const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=app%3D${name}`;
      return (await api.get<{ items: Pod[] }>(path)).items.map(toPodView);
    },
    async podOn(name) {
      const [pod, ...others] = (await self.pods()).filter((one) => one.node === name);
      if (!pod || others.length > 0) throw new Error(`${name} has ${pod ? others.length + 1 : 0} pods`);
      return pod;
    },
    async breakPod(name) {
      const pod = await self.podOn(name);
      await api.merge(`/api/v1/namespaces/${namespace}/pods/${pod.name}`, {
        metadata: { annotations: { 'sim.edgeset.io/behaviour': 'never-ready' } },
      });
      await until(`the pod on ${name} is not ready`, async () => !(await self.podOn(name)).ready);
      return pod;
    },
    running: async (image) =>
      (await self.pods())
        .filter((pod) => pod.image === image && pod.ready && !pod.terminating)
        .map((pod) => pod.node)
        .toSorted(),
    rollout: (name = app) =>
      api.find(`/apis/edgeset.io/v1alpha1/namespaces/${namespace}/daemonrollouts/${rolloutName(name)}`),
    async status(name) {
      const found = (await self.rollout(name))?.status;
      if (!found) throw new Error('the DaemonRollout has no status yet');
      return found;
    },
    condition: async (type, name) => (await self.status(name)).conditions?.find((one) => one.type === type),
    async events(reason, name = app) {
      const { items } = await api.get<{ items: Event[] }>(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
      return items
        .filter(({ regarding }) => regarding?.kind === 'DaemonSet' && regarding.name === name)
        .filter(({ regarding }) => regarding?.apiVersion?.split('/')[0] === group)
        .filter((event) => event.reportingController === 'edgeset.io/manager')
        .filter((event) => reason === undefined || event.reason === reason)
        .toSorted((a, b) => (a.eventTime ?? '').localeCompare(b.eventTime ?? ''));
    },
    calls: history.calls,
    async podWrites(only) {
      const found = (await Promise.all(names.map((name) => history.steps(group, name)))).flat();
      return found
        .filter((step) => only === undefined || step.kind === only)
        .toSorted((a, b) => a.record.receivedAt - b.record.receivedAt);
    },
    async updates() {
      if (kind === 'native') return history.deletes();
      return (await self.podWrites()).filter((step) => isUpdate(step)).map(({ record }) => record);
    },
    updatedNodes: async () => (await self.updates()).map(({ response }) => nodeOf((response ?? {}) as Pod)),

    until,
    untilUpdates: (count, withinMs) =>
      until(
        `there are ${count} updates`,
        async () => {
          const acts = await self.updates();
          return acts.length >= count ? acts : undefined;
        },
        withinMs,
        25,
      ),
    async untilRunning(image, on = nodes, withinMs = 90_000) {
      await until(
        `${on.join(', ')} run ${image}`,
        async () => {
          const found = new Set(await self.running(image));
          return on.every((name) => found.has(name));
        },
        withinMs,
      );
    },
    async untilComplete(image, on, withinMs) {
      await self.untilRunning(image, on, withinMs);
      await self.untilCondition('Complete');
    },
    untilCondition: (type, status = 'True', withinMs) =>
      until(
        `${type} is ${status}`,
        async () => {
          const { conditions, daemonSetGeneration } = await self.status();
          const found = conditions?.find((one) => one.type === type);
          if (found?.status !== status) return undefined;
          const { metadata } = await self.daemonSet();
          return daemonSetGeneration === metadata?.generation ? found : undefined;
        },
        withinMs,
      ),
    untilRecorded: () =>
      until('the rollout is recorded as complete', async () => {
        const { lastComplete, target } = await self.status();
        return lastComplete !== undefined && lastComplete.hash === target?.hash;
      }),
    untilEvent: (reason, withinMs) =>
      until(`there is an Event ${reason}`, async () => (await self.events(reason))[0], withinMs),
    async untilWarning(reason, withinMs) {
      const event = await self.untilEvent(reason, withinMs);
      assert.equal(event.type, 'Warning');
      return event;
    },
    async expectNoUpdatesFor(seconds) {
      const before = (await self.updates()).length;
      await sleep(seconds * 1000);
      assert.deepEqual(
        (await self.updates()).slice(before).map(({ name }) => name),
        [],
        'nothing is updated',
      );
    },
    async kubectl(args, input) {
      const running = run('kubectl', ['--kubeconfig', cluster.kubeconfig, '-n', namespace, ...args]);
      running.child.stdin?.end(input ?? '');
      return (await running).stdout;
    },
  };

  return {
    case: self,
    async finish() {
      const logs = await Promise.all(managers.map((manager) => manager.log()));
      const daemonSet = await api.find<DaemonSet>(`${setsPath}/${app}`);
      const annotations = daemonSet?.metadata?.annotations ?? {};
      assertInvariants({
        records: await cluster.audit.read(),
        namespace,
        daemonSets: [
          ...names.map((name) => ({ name, kind, budget: options.budget ?? annotations[budgetKey] })),
          ...(options.others ?? []),
        ],
        nodes: allNodes,
        user,
        logs,
        settleMs: Number(annotations['edgeset.io/settle-seconds'] ?? 10) * 1000,
        expected: options.expected,
        refusals: options.refusals ?? false,
      });
      for (const manager of managers) await manager.stop();
    },
    async diagnostics() {
      const logs = await Promise.all(managers.map((manager) => manager.log()));
      const words = logs.map((log) => log.trimEnd().split('\n').slice(-25).join('\n'));
      const records = await cluster.audit.read();
      const outages = outagesText(records, allNodes);
      return { outages, words: [...words, await describeCase(self), describePodCalls(records, namespace)] };
    },
    async close() {
      for (const manager of managers) manager.kill('SIGKILL');
      await Promise.all([...links].map((link) => link.close()));
      await cluster.dropNamespace(namespace);
      await cluster.removeNodes([...allNodes]);
    },
  };
};
