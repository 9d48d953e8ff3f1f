import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../conformance/index.ts';
import { openApi } from '../conformance/kit/api.ts';
import { until } from '../conformance/kit/until.ts';
import { checkRun } from './check-run.ts';
import { waitForConvergence } from './convergence.ts';
import { createDaemonSets } from './daemonsets.ts';
import { startManagers } from './managers.ts';
import { type ChaosContext, perform } from './operations.ts';
import { countOperations, formatPlan, makePlan, type Plan, type Step, setNames } from './plan.ts';
import { formatReport } from './report.ts';
import type { Settings } from './settings.ts';
import { startWatcher } from './watcher.ts';

export interface Outcome {
  /** Empty when all is well. */
  problems: string[];
  figures: string[];
}

type Say = (line: string) => void;

/** Executes a plan; reports what took effect, and what did not. */
const execute = async (context: ChaosContext, plan: Plan, say: Say) => {
  const startedAt = performance.now();
  const fired = new Map<string, number>();
  const problems: string[] = [];
  const at = (): string => `${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s`;

  const run = async (lane: string, { afterMs, operation }: Step): Promise<void> => {
    await sleep(afterMs);
    const begun = at();
    try {
      const met = await perform(context, operation);
      fired.set(operation.do, (fired.get(operation.do) ?? 0) + 1);
      say(`${begun} to ${at()}  ${lane}: ${JSON.stringify(operation)}${met && ` ${met}`}`);
    } catch (error) {
      const why = error instanceof Error ? [error.message, error.cause].filter(Boolean).join(': ') : String(error);
      problems.push(`planned, but did not take effect: ${lane} at ${begun}: ${JSON.stringify(operation)}: ${why}`);
    }
  };
  await Promise.all(
    Object.entries(plan.lanes).map(async ([lane, steps]) => {
      for (const step of steps) await run(lane, step);
    }),
  );
  return { fired, problems, seconds: (performance.now() - startedAt) / 1000 };
};

/** Executes a plan on its own cluster, and checks the history against the invariants. */
export const runChaos = async (
  startCluster: () => Promise<Cluster>,
  { seed, minutes, storm }: Settings,
  say: Say,
): Promise<Outcome> => {
  const plan = makePlan(seed, minutes, storm);
  for (const line of formatPlan(plan)) say(line);
  const cluster = await startCluster();
  const api = await openApi(cluster.kubeconfig);
  const closing: (() => Promise<void>)[] = [() => cluster.stop(), () => api.close()];
  try {
    const namespace = await cluster.createNamespace('chaos');
    const nodes = Array.from({ length: plan.nodes }, (_, index) => `${namespace}-${index}`);
    const nodeLabels = { case: namespace };
    // Without another node, nodes that all fail at once would look like a broken control plane.
    await cluster.addNodes(['anchor'], {
      taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
    });
    await cluster.addNodes(nodes, { labels: nodeLabels });
    const pair = await startManagers(cluster, api, namespace);
    closing.push(() => pair.close());
    const daemonSets = createDaemonSets(api, namespace);
    await until('Advanced DaemonSets are served', () => api.get('/apis/apps.kruise.io/v1beta1/daemonsets'));
    const watcher = startWatcher(cluster.client, namespace);
    closing.push(() => watcher.stop());
    await daemonSets.create();
    const context: ChaosContext = { cluster, api, nodes, nodeLabels, pair, daemonSets, watcher };
    const first = await waitForConvergence(context, 'app:v1', { restSeconds: 0 });
    if (first.problems.length > 0) return { problems: first.problems, figures: [] };
    const executed = await execute(context, plan, say);
    for (const set of setNames) await daemonSets.release(set, 'app:last');
    const rest = await waitForConvergence(context, 'app:last', { restSeconds: 8 });
    const result = await checkRun(context, namespace);
    const problems = [...executed.problems, ...pair.problems, ...rest.problems, ...result.problems];
    const figures = formatReport({ plan, planned: countOperations(plan), ...executed, rest, result });
    return {
      problems,
      figures: problems.length === 0 ? figures : [...figures, `kept: ${await result.file(problems)}`],
    };
  } finally {
    for (const close of closing.toReversed()) await close();
  }
};
