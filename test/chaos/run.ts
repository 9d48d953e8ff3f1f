import type { Cluster } from '../conformance/index.ts';
import { openApi } from '../conformance/kit/api.ts';
import { until } from '../conformance/kit/until.ts';
import { carryOut, type Stage } from './deeds.ts';
import { tellFigures } from './figures.ts';
import { startPair } from './pair.ts';
import { countDeeds, makePlan, type Plan, type Step, setNames, tellPlan } from './plan.ts';
import { comeToRest } from './rest.ts';
import { createSets } from './sets.ts';
import type { Settings } from './settings.ts';
import { hear } from './trial.ts';
import { startWatcher } from './watcher.ts';

export interface Outcome {
  /** Empty when all is well. */
  problems: string[];
  figures: string[];
}

type Say = (line: string) => void;

/** What came to pass of a plan, and what did not. */
const play = async (stage: Stage, plan: Plan, say: Say) => {
  const startedAt = performance.now();
  const fired = new Map<string, number>();
  const problems: string[] = [];
  const at = (): string => `${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s`;

  const run = async (lane: string, { afterMs, deed }: Step): Promise<void> => {
    const due = performance.now() + afterMs;
    await until('it is time', () => performance.now() >= due, afterMs + 10_000, 100);
    const begun = at();
    try {
      const met = await carryOut(stage, deed);
      fired.set(deed.do, (fired.get(deed.do) ?? 0) + 1);
      say(`${begun} to ${at()}  ${lane}: ${JSON.stringify(deed)}${met && ` ${met}`}`);
    } catch (error) {
      const why = error instanceof Error ? [error.message, error.cause].filter(Boolean).join(': ') : String(error);
      problems.push(`planned, and did not come to pass: ${lane} at ${begun}: ${JSON.stringify(deed)}: ${why}`);
    }
  };
  await Promise.all(
    Object.entries(plan.lanes).map(async ([lane, steps]) => {
      for (const step of steps) await run(lane, step);
    }),
  );
  return { fired, problems, seconds: (performance.now() - startedAt) / 1000 };
};

/** Plays a plan on a cluster of its own, and holds what came of it against the invariants. */
export const runChaos = async (
  startCluster: () => Promise<Cluster>,
  { seed, minutes, storm }: Settings,
  say: Say,
): Promise<Outcome> => {
  const plan = makePlan(seed, minutes, storm);
  for (const line of tellPlan(plan)) say(line);
  const cluster = await startCluster();
  const api = await openApi(cluster.kubeconfig);
  const closing: (() => Promise<void>)[] = [() => cluster.stop(), () => api.close()];
  try {
    const namespace = await cluster.createNamespace('chaos');
    const nodes = Array.from({ length: plan.nodes }, (_, index) => `${namespace}-${index}`);
    const nodeLabels = { case: namespace };
    // Without one more, nodes that all fail at once would look like a broken control plane.
    await cluster.addNodes(['anchor'], {
      taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
    });
    await cluster.addNodes(nodes, { labels: nodeLabels });
    const pair = await startPair(cluster, api, namespace);
    closing.push(() => pair.close());
    const sets = createSets(api, namespace);
    await until('Advanced DaemonSets are served', () => api.get('/apis/apps.kruise.io/v1beta1/daemonsets'));
    const watcher = startWatcher(cluster.client, namespace);
    closing.push(() => watcher.stop());
    await sets.create();
    const stage: Stage = { cluster, api, nodes, nodeLabels, pair, sets, watcher };
    const first = await comeToRest(stage, 'app:v1', { restSeconds: 0 });
    if (first.problems.length > 0) return { problems: first.problems, figures: [] };
    const played = await play(stage, plan, say);
    for (const set of setNames) await sets.release(set, 'app:last');
    const rest = await comeToRest(stage, 'app:last', { restSeconds: 8 });
    const trial = await hear(stage, namespace);
    const problems = [...played.problems, ...pair.troubles, ...rest.problems, ...trial.problems];
    const figures = tellFigures({ plan, planned: countDeeds(plan), ...played, rest, trial });
    return {
      problems,
      figures: problems.length === 0 ? figures : [...figures, `kept: ${await trial.file(problems)}`],
    };
  } finally {
    for (const close of closing.toReversed()) await close();
  }
};
