import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonRollout } from '../../src/words/index.ts';
import { countWrites } from '../conformance/index.ts';
import { until } from '../conformance/kit/until.ts';
import { readyChanges } from '../judge/audit/node-outages.ts';
import type { ChaosContext } from './operations.ts';
import { type SetName, setNames } from './plan.ts';

/** Twenty nodes in small waves take a tenth of that; a busy machine may need all of it. */
const WITHIN_MS = 120_000;
/** For the status and Events that follow the last pod. */
const FINAL_WRITES_MS = 3_000;

const MAX_REST_PERIODS = 8;

export interface Convergence {
  problems: string[];
  /** Until every node was at the target. */
  ms: number;
  restSeconds: number;
}

/** What still keeps a DaemonSet from converging. */
const unfinished = async ({ api, daemonSets, nodes }: ChaosContext, set: SetName, image: string): Promise<string[]> => {
  const pods = await daemonSets.pods(set);
  const left = nodes.flatMap((node) => {
    const here = pods.filter((pod) => pod.node === node);
    const [pod, ...others] = here;
    if (pod && others.length === 0 && pod.image === image && pod.ready && !pod.terminating) return [];
    const told = here.map(
      (each) => `${each.name} ${each.image} ${each.ready ? 'ready' : 'not ready'}${each.terminating ? ', ending' : ''}`,
    );
    return [`${set} on ${node}: ${told.join(' and ') || 'no pod'}`];
  });
  if (left.length > 0) return left;
  const [generation, { status }] = await Promise.all([
    daemonSets.generation(set),
    api.get<DaemonRollout>(daemonSets.rolloutPath(set)),
  ]);
  const complete = status?.conditions?.find(({ type }) => type === 'Complete');
  const isSaid = complete?.status === 'True' && status?.daemonSetGeneration === generation;
  return isSaid ? [] : [`${set}: ${status?.summary}, of generation ${status?.daemonSetGeneration} of ${generation}`];
};

/** L1 and S15: once all faults are over, every node reaches the target, becomes available and stays so, and writes stop. */
export const waitForConvergence = async (
  context: ChaosContext,
  image: string,
  { restSeconds }: { restSeconds: number },
): Promise<Convergence> => {
  const { cluster, pair, daemonSets, watcher } = context;
  const startedAt = performance.now();
  const problems: string[] = [];
  let left: string[] = [];
  const look = async (): Promise<boolean> => {
    left = (await Promise.all(setNames.map((set) => unfinished(context, set, image)))).flat();
    return left.length === 0;
  };
  await until('every node is at the target', look, WITHIN_MS).catch(() => {
    problems.push(...left.map((one) => `L1: ${WITHIN_MS / 1000} s after the last fault: ${one}`));
  });
  const ms = performance.now() - startedAt;
  if (problems.length > 0 || restSeconds === 0) return { problems, ms, restSeconds: 0 };

  const uids = async (): Promise<string> =>
    (await Promise.all(setNames.map((set) => daemonSets.pods(set))))
      .flat()
      .map(({ uid }) => uid)
      .toSorted()
      .join(' ');
  const flaps = (): number => readyChanges(watcher.observations, new Set(context.nodes)).length;
  let [before, since] = ['', 0];
  for (let rests = 0; rests < MAX_REST_PERIODS; rests += 1) {
    await sleep(FINAL_WRITES_MS);
    const flapped = flaps();
    [before, since] = [await uids(), Date.now()];
    await sleep(restSeconds * 1000);
    // On an overloaded machine nodes become NotReady by themselves: then the cluster is not at rest.
    if (flaps() === flapped) break;
  }
  await look();
  problems.push(...left.map((one) => `L1: did not stay at the target: ${one}`));
  if ((await uids()) !== before) problems.push('L1: pods were replaced at rest');
  const users = new Set(pair.managers.map(({ user }) => user));
  const writes = countWrites(await cluster.audit.read(), { user: (user) => users.has(user), since });
  // Leases are renewed for ever, and a series of Events is closed later.
  for (const [what, count] of Object.entries(writes))
    if (!/ (leases|events)$/.test(what)) problems.push(`S15: ${count} times ${what} at rest`);
  return { problems, ms, restSeconds };
};
