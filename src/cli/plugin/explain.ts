import { isKubeError, nodes as nodeResource } from '../../kube/index.ts';
import { type Explanation, explain, type Phase, toNodeInfo, whyNotEligible } from '../../rollout/index.ts';
import { toLines } from '../escape.ts';
import type { Io } from '../io.ts';
import { wrapped } from '../terminal.ts';
import { type Connection, type ConnectionFlags, withCluster } from './connection.ts';
import { CommandError } from './errors.ts';
import { contextOf, explainRollout, notesOf } from './explain-rollout.ts';
import type { Reading } from './kinds/kind.ts';
import { readName } from './kinds/names.ts';
import { managerNotes, readRolloutOf } from './read-rollout.ts';
import { withRefusedPods } from './refused-pods.ts';
import { joinSentences, structured } from './text.ts';

export interface ExplainFlags extends ConnectionFlags {
  node?: string;
  /** Only the nodes in these phases. */
  phase?: readonly Phase[];
  /** All nodes and all causes, however many. */
  all?: boolean;
  output?: 'json' | 'yaml';
}

/** A reserved slot is used within moments, unless the manager cannot write. */
const SLOW_ACT_MS = 10_000;

/** Explains the state of one node, or why the DaemonSet does not run on it. */
export const explainNode = async (
  { client, env, namespace }: Connection,
  { kind, ledger, decision, view }: Reading,
  name: string,
): Promise<Explanation> => {
  const record = ledger.get(name);
  const now = env.clock.now();
  if (record?.node) {
    const explanation = explain(record, view.policy.policy, contextOf({ ledger, decision }), now);
    const { update } = record;
    if (explanation.cause !== 'reserved' || !update || now - update.at < SLOW_ACT_MS) return explanation;
    const remedy = `Its slot has been reserved for ${Math.round((now - update.at) / 1000)} s: check that the manager is running, and see the ${kind.failureEvents} Events of the DaemonSet.`;
    return { ...explanation, remedy };
  }
  const outside = (what: string, remedy = ''): Explanation => ({
    node: name,
    phase: 'not-eligible',
    cause: undefined,
    what,
    remedy,
    lookedAtAgain: undefined,
  });
  try {
    const node = toNodeInfo(await client.get(nodeResource, { name }));
    return outside(
      whyNotEligible(view.needs, node) ?? `${name} has just become eligible for this DaemonSet.`,
      'It is not part of the rollout.',
    );
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
    if (record)
      return outside(
        `Node ${name} no longer exists, but its pod of ${namespace}/${view.name} has not been garbage-collected yet.`,
        'It is not part of the rollout.',
      );
    throw new CommandError('NotFound', `there is no node "${name}": run "kubectl get nodes"`, error);
  }
};

const when = (time: number | undefined, now: number): string => {
  if (time === undefined) return 'It is re-evaluated when something changes.';
  return `It is re-evaluated in ${Math.max(0, Math.ceil((time - now) / 1000))} s, or when something changes.`;
};

/** Phases in which nothing is expected to happen. */
const settled: ReadonlySet<string> = new Set<Explanation['phase']>(['updated', 'not-eligible']);

export const renderNode = (one: Explanation, notes: readonly string[], now: number): string[] => [
  `${one.node}: ${one.phase}${one.cause ? ` (${one.cause})` : ''}`,
  `  ${joinSentences(one.what, one.remedy, settled.has(one.phase) ? '' : when(one.lookedAtAgain, now))}`,
  ...notes.map((note) => `Note: ${note}`),
];

/** Whether a node is asked for; one that the DaemonSet does not run on has no phase. */
const isWanted = (phase: Phase | undefined, wanted: readonly Phase[] | undefined): boolean =>
  wanted === undefined || (phase !== undefined && wanted.includes(phase));

/** For scripts, with times as dates. */
const toData = ({ lookedAtAgain, ...rest }: Explanation): object => ({
  ...rest,
  ...(lookedAtAgain !== undefined && { lookedAtAgain: new Date(lookedAtAgain).toISOString() }),
});

/** Explains the state of nodes from the cluster's objects alone, without the manager. */
export const showExplanation = async (name: string, flags: ExplainFlags, io: Io): Promise<void> => {
  const { node, output, phase, all = false } = flags;
  const named = readName(name);
  await withCluster(flags, io, async (connection) => {
    const reading = await withRefusedPods(connection, await readRolloutOf(connection, named));
    const now = connection.env.clock.now();
    const { ledger, decision, view } = reading;
    if (node !== undefined) {
      const one = await explainNode(connection, reading, node);
      if (output) io.data(structured(toData(one), output));
      else io.stdout(toLines(...wrapped(renderNode(one, managerNotes(reading), now), io)));
      return;
    }
    const wanted = [...ledger.records()].filter(({ status }) => isWanted(status.phase, phase));
    if (!output) {
      io.stdout(toLines(...wrapped(explainRollout(reading, wanted, { now, all, phases: phase }), io)));
      return;
    }
    const { hold, complete, budget, usage, breaker } = decision.summary;
    const context = contextOf(reading);
    const nodes = wanted
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map((record) => toData(explain(record, view.policy.policy, context, now)));
    io.data(structured({ complete, hold, budget, usage, breaker, notes: notesOf(reading), nodes }, output));
  });
};
