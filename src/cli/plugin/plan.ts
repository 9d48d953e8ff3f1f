import { type RolloutReading, readRollout } from '../../native/index.ts';
import { annotation, explainHold } from '../../rollout/index.ts';
import { systemClock } from '../../runtime/index.ts';
import type { Io } from '../io.ts';
import { withCluster } from './connect.ts';
import type { PlanFlags } from './plan-command.ts';
import { readDaemonSetName, readFormat, structured } from './text.ts';

const verbs: Record<string, string> = {
  reserve: 'reserve a slot and replace the pod on',
  delete: 'delete the pod on',
  release: 'give back the slot of',
};

/** The decision's actions as sentences. */
export const planOf = ({ decision }: RolloutReading): string[] =>
  decision.actions.map((action) => {
    switch (action.type) {
      case 'reserve':
      case 'delete':
      case 'release':
        return `${verbs[action.type]} ${action.node}`;
      case 'halt':
        return action.halt.reason === 'RolledBack'
          ? 'halt: this revision was rolled back before'
          : `halt: failed on ${action.halt.nodes.join(', ')}`;
      case 'resume':
        return `resume, as ${action.value} asks`;
      case 'rollback':
        return `put the template of ${action.to.name} back`;
      case 'complete':
        return 'note that the rollout is complete';
    }
  });

export const renderPlan = (reading: RolloutReading): string => {
  const { summary } = reading.decision;
  const { breaker, budget, usage, hold } = summary;
  const lines = [
    `Budget ${budget}: ${usage.occupied} in use, ${usage.inFlight} of them by acts in flight.`,
    `Breaker: ${breaker.failures} failures and ${breaker.suspects} suspects, stops at ${breaker.threshold}.`,
  ];
  if (hold) {
    const { what, remedy } = explainHold(hold);
    lines.push(`${what}. ${remedy}`.trim());
  }
  const steps = planOf(reading);
  lines.push(steps.length === 0 ? 'Nothing would be done now.' : 'Would now:', ...steps.map((step) => `  ${step}`));
  return `${lines.join('\n')}\n`;
};

/** What the one decision of the product says of the live cluster, with the policy changed as the flags ask. */
export const showPlan = async (name: string, flags: PlanFlags, io: Io): Promise<void> => {
  const format = readFormat(flags.output, ['table', 'json', 'yaml']);
  const changed = [
    [annotation.maxUnavailable, flags.maxUnavailable],
    [annotation.partition, flags.partition],
    [annotation.nodeSelector, flags.nodeSelector],
  ].filter((pair): pair is [string, string] => pair[1] !== undefined);
  await withCluster(flags, io, async ({ client, namespace }) => {
    const reading = await readRollout({
      client,
      clock: systemClock,
      namespace,
      name: readDaemonSetName(name),
      annotations: Object.fromEntries(changed),
    });
    io.stdout(
      format === 'json' || format === 'yaml'
        ? structured({ ...reading.decision.summary, actions: reading.decision.actions }, format)
        : renderPlan(reading),
    );
  });
};
