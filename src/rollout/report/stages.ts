import {
  cut,
  type DaemonRolloutStage,
  type DaemonRolloutStatus,
  daemonRolloutLimits as limits,
  REST_STAGE,
} from '../../words/index.ts';
import type { Summary } from '../decision/decide.ts';
import type { StageStatus } from '../decision/stages.ts';
import type { Ledger } from '../fleet/ledger-types.ts';
import { saveStage } from '../plan/stage-state.ts';

/**
 * The open stage, if it holds back a node, online or not. A rollout is complete once all online nodes run the target, but those
 * that return wait in their stages until this one is passed.
 */
export const awaitedStage = ({ tally, stages }: Ledger, { complete, stage }: Summary): StageStatus | undefined => {
  const later = tally.stages.slice((stages.current?.index ?? 0) + 1);
  return !complete || later.some(({ eligible }) => eligible > 0) ? stage : undefined;
};

/** Once a node was exposed, the number stays on record for the rollout: that tells the next leader what people were told. */
const toldOf = (previous: DaemonRolloutStatus | undefined, { state }: Pick<Ledger, 'state'>): ReadonlySet<string> =>
  new Set(
    previous?.rollout === state.rollout
      ? previous.stages?.flatMap(({ name, nodes }) => (nodes.exposed === undefined ? [] : [name]))
      : undefined,
  );

/**
 * The stages of the plan, `rest` only if it has nodes or was opened, and after them those that were opened and are not in the plan now: if
 * an edit brings them back, they are as they were. `previous`: the status that was written before.
 */
export const stagesOf = (ledger: Ledger, summary: Summary, previous?: DaemonRolloutStatus): DaemonRolloutStage[] => {
  const { policy, tally, state, stages } = ledger;
  const awaited = awaitedStage(ledger, summary);
  const opened = new Map(state.stages.map((stage) => [stage.name, stage]));
  const told = toldOf(previous, ledger);
  const planned = (policy.plan?.stages ?? []).flatMap(({ name }, index): DaemonRolloutStage[] => {
    const counts = tally.stages[index];
    const stage = opened.get(name);
    const { eligible: total = 0, online = 0, updated = 0, exposed = 0 } = counts ?? {};
    if (name === REST_STAGE && total === 0 && !stage) return [];
    const stand = stages.current?.index === index ? awaited : undefined;
    return [
      {
        name,
        state: stage?.promoted ? 'Passed' : stages.isOpen(index) ? 'Open' : 'Closed',
        nodes: { total, online, updated, ...((exposed > 0 || told.has(name)) && { exposed }) },
        ...(stand && { awaits: { reason: stand.wait, message: cut(stand.message) } }),
        ...(stage && saveStage(stage)),
      },
    ];
  });
  const removed = state.stages.flatMap((stage): DaemonRolloutStage[] => {
    if (policy.plan?.stages.some(({ name }) => name === stage.name)) return [];
    const nodes = { total: 0, online: 0, updated: 0 };
    return [{ name: stage.name, state: stage.promoted ? 'Passed' : 'Closed', nodes, ...saveStage(stage) }];
  });
  return [...planned, ...removed].slice(0, limits.stages);
};
