import { type RolloutReading, readRollout } from '../../native/index.ts';
import { type Explanation, explain, explainHold, hazards, phases } from '../../rollout/index.ts';
import { OptionError, systemClock } from '../../runtime/index.ts';
import type { Io } from '../io.ts';
import { withCluster } from './connect.ts';
import type { ExplainFlags } from './explain-command.ts';
import { readDaemonSetName, readFormat, structured } from './text.ts';

/** A cluster with its defaults takes so long to mark a lost node: 40 s of grace, and a pass of the node controller. */
const DETECTION_LAG_MS = 45_000;
const NODES_PER_CAUSE = 5;

const when = (time: number | undefined, now: number): string => {
  if (time === undefined) return 'It is looked at again when something changes.';
  return `It is looked at again in ${Math.max(0, Math.ceil((time - now) / 1000))} s, or when something changes.`;
};

const sentence = (...parts: string[]): string => parts.filter((part) => part !== '').join(' ');

export const renderNode = (one: Explanation, now: number): string =>
  `${one.phase}${one.cause ? ` (${one.cause})` : ''}\n  ${sentence(one.what, one.remedy, when(one.lookedAtAgain, now))}\n`;

/** Each cause with the first of its nodes, in the order of phases; a rollout's hold and hazards before them. */
export const renderRollout = (reading: RolloutReading, now: number): string => {
  const { ledger, decision, view } = reading;
  const { hold, complete, budget, usage } = decision.summary;
  const { tally, state } = ledger;
  const lines = [
    `${view.namespace}/${view.name}: ${tally.phases.updated} of ${tally.online} online nodes run ${state.target?.name ?? 'the target, which is not known yet'}; ${tally.phases.offline} offline.`,
    complete ? 'Nothing is left to do.' : `${usage.occupied} of ${budget} slots of the budget are in use.`,
  ];
  if (hold) {
    const { what, remedy } = explainHold(hold);
    lines.push(sentence(`${what}.`, remedy));
  }
  for (const hazard of hazards(view.policy.policy, DETECTION_LAG_MS)) lines.push(`Note: ${hazard}`);
  const byCause = Map.groupBy(
    [...ledger.records()].filter((record) => record.view.phase !== undefined),
    (record) => record.view.cause,
  );
  for (const phase of phases)
    for (const [cause, records] of byCause) {
      const [first] = records;
      if (!first || first.view.phase !== phase || !cause) continue;
      const names = records.map((record) => record.name).sort();
      const more = names.length > NODES_PER_CAUSE ? ` and ${names.length - NODES_PER_CAUSE} more` : '';
      lines.push('', `${phase} (${cause}): ${names.slice(0, NODES_PER_CAUSE).join(', ')}${more}`);
      const { what, remedy } = explain(first, view.policy.policy, hold, now);
      if (phase !== 'updated') lines.push(`  ${sentence(what, remedy)}`);
    }
  return `${lines.join('\n')}\n`;
};

/** Why nodes are where they are, from the cluster's objects alone. */
export const showExplanation = async (name: string, flags: ExplainFlags, io: Io): Promise<void> => {
  const format = readFormat(flags.output, ['table', 'json', 'yaml']);
  const daemonSet = readDaemonSetName(name);
  await withCluster(flags, io, async ({ client, namespace }) => {
    const reading = await readRollout({ client, clock: systemClock, namespace, name: daemonSet });
    const now = systemClock.now();
    const { ledger, decision, view } = reading;
    const told = (node: string): Explanation => {
      const record = ledger.get(node);
      if (!record)
        throw new OptionError(
          '--node',
          `DaemonSet ${daemonSet} does not run on a node "${node}": see kubectl get nodes`,
        );
      return explain(record, view.policy.policy, decision.summary.hold, now);
    };
    if (flags.node !== undefined) {
      const one = told(flags.node);
      io.stdout(format === 'json' || format === 'yaml' ? structured(one, format) : renderNode(one, now));
      return;
    }
    if (format !== 'json' && format !== 'yaml') {
      io.stdout(renderRollout(reading, now));
      return;
    }
    const nodes = [...ledger.records()].map((record) => record.name).sort();
    const { hold, complete, budget, usage, breaker } = decision.summary;
    io.stdout(structured({ complete, hold, budget, usage, breaker, nodes: nodes.map(told) }, format));
  });
};
