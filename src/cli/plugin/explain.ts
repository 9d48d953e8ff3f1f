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

/** A cluster with its defaults takes so long to mark a lost node: 40 s of grace, and a pass of the node controller. */
const DETECTION_LAG_MS = 45_000;
const NODES_PER_CAUSE = 5;

/** Causes whose sentence names times or words of one node's own: told of each of the nodes that are shown. */
const ownStory: ReadonlySet<string> = new Set([
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

/** Each cause with the first of its nodes, in the order of phases; what holds the rollout, and notes, before them. */
export const renderRollout = (reading: Reading, now: number): string => {
  const { ledger, decision, view } = reading;
  const { hold, complete, budget, usage } = decision.summary;
  const { tally, state } = ledger;
  const { strategy, byApproval } = view.policy.policy;
  const owned = strategy === 'ota';
  const target = state.target?.name ?? 'the target revision, which is not known yet';
  const lines = [
    `${view.namespace}/${view.name}: ${tally.phases.updated} of ${tally.online} online nodes run ${target}; ${tally.phases.offline} offline.`,
    complete
      ? 'Nothing is left to do.'
      : joinSentences(
          owned ? `${tally.ownersAsked} of their owners ${tally.ownersAsked === 1 ? 'is' : 'are'} asked.` : '',
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
      for (const record of sorted.slice(0, ownStory.has(cause) ? NODES_PER_CAUSE : 1)) {
        const { what, remedy } = explain(record, view.policy.policy, hold, now);
        lines.push(`  ${joinSentences(what, remedy)}`);
      }
    }
  return `${lines.join('\n')}\n`;
};

/** A slot is used within moments of being reserved; one that is not tells of a manager that cannot. */
const SLOW_ACT_MS = 10_000;

/** Why one node is where it is; of a node that the DaemonSet does not run on, why it does not. */
export const explainNode = async (
  { client, env, namespace }: Connection,
  { kind, ledger, decision, view }: Reading,
  name: string,
): Promise<Explanation> => {
  const record = ledger.get(name);
  const now = env.clock.now();
  if (record?.node) {
    const told = explain(record, view.policy.policy, decision.summary.hold, now);
    const { update } = record;
    if (told.cause !== 'reserved' || !update || now - update.at < SLOW_ACT_MS) return told;
    const remedy = `Its slot has been reserved for ${Math.round((now - update.at) / 1000)} s: see whether the manager runs, and Events ${kind.failureEvents} of the DaemonSet.`;
    return { ...told, remedy };
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
      whyNotEligible(view.needs, node) ?? `${name} has only just become a node of this DaemonSet.`,
      'It is no part of the rollout.',
    );
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
    if (record)
      return outside(
        `There is no Node ${name} any more, and a pod of ${namespace}/${view.name} that was on it has not been collected yet.`,
        'It is no part of the rollout.',
      );
    throw new CommandError('NotFound', `there is no node "${name}": see "kubectl get nodes"`, error);
  }
};

const when = (time: number | undefined, now: number): string => {
  if (time === undefined) return 'It is looked at again when something changes.';
  return `It is looked at again in ${Math.max(0, Math.ceil((time - now) / 1000))} s, or when something changes.`;
};

/** Nothing is awaited there. */
const settled: ReadonlySet<string> = new Set<Explanation['phase']>(['updated', 'not-eligible']);

export const renderNode = (one: Explanation, notes: readonly string[], now: number): string => {
  const lines = [
    `${one.node}: ${one.phase}${one.cause ? ` (${one.cause})` : ''}`,
    `  ${joinSentences(one.what, one.remedy, settled.has(one.phase) ? '' : when(one.lookedAtAgain, now))}`,
    ...notes.map((note) => `Note: ${note}`),
  ];
  return `${lines.join('\n')}\n`;
};

/** Times as dates, for whoever reads them in a script. */
const toData = ({ lookedAtAgain, ...rest }: Explanation): object => ({
  ...rest,
  ...(lookedAtAgain !== undefined && { lookedAtAgain: new Date(lookedAtAgain).toISOString() }),
});

/** Why nodes are where they are, from the cluster's objects alone. */
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
