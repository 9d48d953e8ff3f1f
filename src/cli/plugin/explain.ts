import { isKubeError, nodes as nodeResource } from '../../kube/index.ts';
import {
  type Explanation,
  explain,
  explainHold,
  phases,
  policyWarnings,
  toNodeInfo,
  whyNotEligible,
} from '../../rollout/index.ts';
import type { ExplainFlags } from '../commands.ts';
import type { Io } from '../io.ts';
import { type Connection, withCluster } from './connection.ts';
import { CommandError } from './errors.ts';
import type { Reading } from './kinds/kind.ts';
import { readName } from './kinds/names.ts';
import { managerNotes, readRolloutOf } from './read-rollout.ts';
import { firstOf, joinSentences, structured } from './text.ts';

/** How long a cluster takes by default to mark a lost node: 40 s of grace, and one run of the node controller. */
const DETECTION_LAG_MS = 45_000;
const NODES_PER_CAUSE = 5;

/** Causes whose explanation differs from node to node: it is printed for each node that is shown. */
const nodeSpecific: ReadonlySet<string> = new Set([
  'starting',
  'changing',
  'surging',
  'not-ready',
  'offline-current',
  'offline-outdated',
  'suspect',
  'lost',
  'returned',
  'refused',
  'image',
  'crash-loop',
  'image-pull',
  'deadline',
  'not-changed-in-time',
]);

const notesOf = (reading: Reading): string[] => [
  ...managerNotes(reading),
  ...policyWarnings(reading.view.policy.policy, DETECTION_LAG_MS),
];

/** What holds the rollout, then notes, then each cause with its first nodes, in the order of the phases. */
export const renderRollout = (reading: Reading, now: number): string => {
  const { ledger, decision, view } = reading;
  const { hold, complete, budget, usage } = decision.summary;
  const { tally, state } = ledger;
  const { strategy, byApproval } = view.policy.policy;
  const owned = strategy === 'ota';
  const target = state.target?.name ?? 'the target revision (not known yet)';
  const lines = [
    `${view.namespace}/${view.name}: ${tally.phases.updated} of ${tally.online} online nodes run ${target}; ${tally.phases.offline} offline.`,
    complete
      ? 'Nothing is left to do.'
      : joinSentences(
          owned ? `${tally.ownersAsked} ${tally.ownersAsked === 1 ? 'owner has' : 'owners have'} been asked.` : '',
          !owned || byApproval ? `${usage.occupied} of ${budget} slots of the budget are in use.` : '',
        ),
  ];
  if (hold) {
    const { what, remedy } = explainHold(hold, reading.ledger.policy.words);
    lines.push(joinSentences(`${what}.`, remedy));
  }
  for (const note of notesOf(reading)) lines.push(`Note: ${note}`);
  const records = [...ledger.records()].filter((record) => record.status.phase !== undefined);
  const byCause = Map.groupBy(records, (record) => record.status.cause);
  for (const phase of phases)
    for (const [cause, group] of byCause) {
      if (group[0]?.status.phase !== phase || !cause) continue;
      const sorted = group.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const names = sorted.map((record) => record.name);
      lines.push('', `${phase} (${cause}): ${firstOf(names, NODES_PER_CAUSE)}`);
      if (phase === 'updated') continue;
      for (const record of sorted.slice(0, nodeSpecific.has(cause) ? NODES_PER_CAUSE : 1)) {
        const { what, remedy } = explain(record, view.policy.policy, hold, now);
        lines.push(`  ${joinSentences(what, remedy)}`);
      }
    }
  return `${lines.join('\n')}\n`;
};

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
    const explanation = explain(record, view.policy.policy, decision.summary.hold, now);
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

export const renderNode = (one: Explanation, notes: readonly string[], now: number): string => {
  const lines = [
    `${one.node}: ${one.phase}${one.cause ? ` (${one.cause})` : ''}`,
    `  ${joinSentences(one.what, one.remedy, settled.has(one.phase) ? '' : when(one.lookedAtAgain, now))}`,
    ...notes.map((note) => `Note: ${note}`),
  ];
  return `${lines.join('\n')}\n`;
};

/** For scripts, with times as dates. */
const toData = ({ lookedAtAgain, ...rest }: Explanation): object => ({
  ...rest,
  ...(lookedAtAgain !== undefined && { lookedAtAgain: new Date(lookedAtAgain).toISOString() }),
});

/** Explains the state of nodes from the cluster's objects alone, without the manager. */
export const showExplanation = async (name: string, flags: ExplainFlags, io: Io): Promise<void> => {
  const { node, output } = flags;
  const named = readName(name);
  await withCluster(flags, io, async (connection) => {
    const reading = await readRolloutOf(connection, named);
    const now = connection.env.clock.now();
    const { ledger, decision, view } = reading;
    if (node !== undefined) {
      const one = await explainNode(connection, reading, node);
      io.stdout(output ? structured(toData(one), output) : renderNode(one, managerNotes(reading), now));
      return;
    }
    if (!output) {
      io.stdout(renderRollout(reading, now));
      return;
    }
    const { hold, complete, budget, usage, breaker } = decision.summary;
    const nodes = [...ledger.records()]
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map((record) => toData(explain(record, view.policy.policy, hold, now)));
    io.stdout(structured({ complete, hold, budget, usage, breaker, notes: notesOf(reading), nodes }, output));
  });
};
