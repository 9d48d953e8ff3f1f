import { type Explanation, explain, explainHold, hazards, phases } from '../../rollout/index.ts';
import type { Io } from '../io.ts';
import { withCluster } from './connect.ts';
import type { ExplainFlags } from './explain-command.ts';
import { explainNode, renderNode } from './explain-node.ts';
import type { Reading } from './kinds.ts';
import { readName } from './names.ts';
import { notesOnManager, readFor } from './reading.ts';
import { sentences, someOf, structured } from './text.ts';

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
  ...notesOnManager(reading),
  ...hazards(reading.view.policy.policy, DETECTION_LAG_MS),
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
      : sentences(
          owned ? `${tally.asked} of their owners ${tally.asked === 1 ? 'is' : 'are'} asked.` : '',
          !owned || byApproval ? `${usage.occupied} of ${budget} slots of the budget are in use.` : '',
        ),
  ];
  if (hold) {
    const { what, remedy } = explainHold(hold, reading.ledger.policy.words);
    lines.push(sentences(`${what}.`, remedy));
  }
  for (const note of notesOf(reading)) lines.push(`Note: ${note}`);
  const records = [...ledger.records()].filter((record) => record.view.phase !== undefined);
  const byCause = Map.groupBy(records, (record) => record.view.cause);
  for (const phase of phases)
    for (const [cause, group] of byCause) {
      if (group[0]?.view.phase !== phase || !cause) continue;
      const sorted = group.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const names = sorted.map((record) => record.name);
      lines.push('', `${phase} (${cause}): ${someOf(names, NODES_PER_CAUSE)}`);
      if (phase === 'updated') continue;
      for (const record of sorted.slice(0, ownStory.has(cause) ? NODES_PER_CAUSE : 1)) {
        const { what, remedy } = explain(record, view.policy.policy, hold, now);
        lines.push(`  ${sentences(what, remedy)}`);
      }
    }
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
    const reading = await readFor(connection, named);
    const now = connection.env.clock.now();
    const { ledger, decision, view } = reading;
    if (node !== undefined) {
      const one = await explainNode(connection, reading, node);
      io.stdout(output ? structured(toData(one), output) : renderNode(one, notesOnManager(reading), now));
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
