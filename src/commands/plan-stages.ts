import {
  budgetShare,
  codesOf,
  openTime,
  type Plan,
  previewSamples,
  sampleCode,
  scaledValue,
  waveAfter,
  wavesOf,
} from '../rollout/index.ts';
import { compareNames } from '../text/index.ts';
import { firstOf, formatSeconds, headed, type Reading, type TonedLine } from '../view/index.ts';
import { REST_STAGE } from '../words/index.ts';
import { forecastStages, type StageTimes } from './plan-times.ts';

type Stage = Plan['stages'][number];
type NodeRecord = NonNullable<ReturnType<Reading['ledger']['get']>>;

/** A stage of the plan as it would be rolled out now. */
export interface PlannedStage extends StageTimes {
  name: string;
  state: 'passed' | 'open' | 'closed';
  /** Sorted. As if all stages drew their samples now. */
  nodes: string[];
  /** The stage has a `count`, and its nodes are drawn when it opens. */
  undrawn: boolean;
  /** Of such a stage: the nodes that it would take now. */
  sample?: string[];
  /** Online nodes that still need the update. */
  updates: number;
  /** How many of them at a time. */
  atATime: number;
  /** How many at first, where the revision has yet to prove itself. */
  firstWave?: number;
  /** How long updates and soak take from now on, or from the opening of the stage; without the time between windows. */
  seconds?: number;
  /** False: it takes longer than `seconds`, since no stage has shown yet how long an update takes. */
  measured: boolean;
  needsApproval: boolean;
}

/** Of its online nodes, those that it must cover, and those of them that run the target. */
interface Count {
  eligible: number;
  online: number;
  inCoverage: number;
  updated: number;
}

const countOf = (records: readonly NodeRecord[]): Count => ({
  eligible: records.length,
  online: records.filter(({ status }) => status.online).length,
  inCoverage: records.filter(({ status }) => status.inCoverage).length,
  updated: records.filter(({ status }) => status.phase === 'updated').length,
});

/** How many nodes of the stage are updated at a time. */
const widthOf = ({ decision }: Reading, { online }: Count, { maxUnavailable }: Stage): number => {
  if (!maxUnavailable) return decision.summary.budget;
  return Math.min(decision.summary.budget, budgetShare(maxUnavailable, online));
};

/**
 * How long one wave of updates took in the stages that were covered in this rollout, without the time between windows; undefined
 * before the first.
 */
const measuredWaveMs = (
  reading: Reading,
  { stages, calendar }: Pick<Plan, 'stages' | 'calendar'>,
  counts: readonly Count[],
): number | undefined => {
  const { firstWave } = reading.decision.summary;
  let [ms, waves, before] = [0, 0, 0];
  for (const [index, stage] of stages.entries()) {
    const { openedAt, coveredAt } = reading.ledger.state.stages.find(({ name }) => name === stage.name) ?? {};
    const count = counts[index];
    const width = count ? widthOf(reading, count, stage) : 0;
    if (openedAt === undefined || coveredAt === undefined || !count || count.inCoverage === 0 || width === 0) continue;
    ms += openTime(calendar, openedAt, coveredAt);
    waves += Math.ceil(wavesOf(firstWave && { ...firstWave, proven: before }, width, count.inCoverage));
    before += count.inCoverage;
  }
  return waves > 0 ? ms / waves : undefined;
};

/** The stages in their order, with their nodes and an estimate of their times; none without a plan with stages. */
export const plannedStages = (reading: Reading, now: number): PlannedStage[] => {
  const { ledger } = reading;
  const { policy, state, stages: view } = ledger;
  const { plan } = policy;
  if (!plan || plan.stages.length === 0) return [];
  const { samples, stageOf } = previewSamples(ledger);
  const members = Map.groupBy(
    ledger.records().filter(({ status }) => status.phase !== undefined),
    ({ node }) => stageOf(node),
  );
  const counts = plan.stages.map((_, index) => countOf(members.get(index) ?? []));
  // As in a rollback, which the stages don't hold back.
  const lifted = view.current === undefined;
  const waveMs = measuredWaveMs(reading, plan, counts);
  const isDecided = (stage: string, wanted: 'Approve' | 'Promote'): boolean =>
    ledger.approvals.some(
      ({ decision, ...one }) => decision === wanted && one.stage === stage && one.revision === state.target?.hash,
    );
  const { firstWave } = reading.decision.summary;
  /** Updates in the stages before. */
  let before = 0;
  const stages = plan.stages.map((stage, index) => {
    const { eligible, online, inCoverage, updated } = counts[index] ?? countOf([]);
    const opened = state.stages.find(({ name }) => name === stage.name);
    const updates = Math.max(0, inCoverage - updated);
    const width = widthOf(reading, { eligible, online, inCoverage, updated }, stage);
    const soakUntil = opened?.soakUntil;
    const soakMs = lifted ? 0 : soakUntil === undefined ? stage.soakMs : Math.max(0, soakUntil - now);
    const oneWaveMs = Math.max(waveMs ?? 0, policy.minReadyMs);
    const proven = before;
    const waves = (count: number): number => Math.ceil(wavesOf(firstWave, width, count, proven));
    const ms = soakMs + (updates === 0 ? 0 : waves(updates) * oneWaveMs);
    const atFirst = firstWave && waveAfter(firstWave.first, firstWave.proven + proven);
    before += updates;
    const nodes = (members.get(index) ?? []).map(({ name }) => name).toSorted(compareNames);
    const sample = samples.get(index);
    const codes = codesOf(sample ?? '');
    const isPassed = opened?.promoted !== undefined;
    const toUpdate = (members.get(index) ?? []).filter(({ status }) => status.inCoverage && status.phase !== 'updated');
    const isGated = !isPassed && !lifted && stage.needsApproval;
    return {
      planned: {
        name: stage.name,
        state: isPassed ? ('passed' as const) : view.isOpen(index) ? ('open' as const) : ('closed' as const),
        nodes,
        undrawn: sample !== undefined,
        ...(sample !== undefined && {
          sample: nodes.filter((name) => codes.has(sampleCode(state.target?.hash ?? '', name))),
        }),
        updates: isPassed ? 0 : updates,
        atATime: width,
        ...(!isPassed && atFirst !== undefined && atFirst < Math.min(width, updates) && { firstWave: atFirst }),
        ...(!isPassed && Number.isFinite(ms) && { seconds: Math.ceil(ms / 1000) }),
        measured: waveMs !== undefined || updates === 0,
        needsApproval: isGated,
      },
      task: {
        stage,
        opened,
        eligible,
        online,
        // Rounded up, as where it is decided.
        needed: Math.max(0, Math.min(inCoverage, scaledValue(stage.coverage, inCoverage, 'up')) - updated),
        timeZones: toUpdate.map(({ node }) => node?.timeZone),
        width,
        waves,
        isApproved: !isGated || isDecided(stage.name, 'Approve'),
        isPromoted: isDecided(stage.name, 'Promote'),
      },
    };
  });
  const times = forecastStages(
    stages.map(({ task }) => task),
    {
      now,
      calendar: lifted && !plan.windowsOnRollback ? { windows: [], freezes: [] } : plan.calendar,
      waveMs: Math.max(waveMs ?? 0, policy.minReadyMs),
      isMeasured: waveMs !== undefined,
      byOwners: policy.strategy === 'ota' && !policy.byApproval,
      lifted,
    },
  );
  return stages.map(({ planned }, index) => ({ ...planned, ...times[index] }));
};

const LONGEST_LIST = 20;

const describeNodes = ({ nodes, undrawn, sample = [] }: PlannedStage): string => {
  if (undrawn)
    return sample.length > 0
      ? `drawn when it opens; now it would take ${sample.length}: ${firstOf(sample, LONGEST_LIST)}`
      : 'drawn when it opens; now it would take no node';
  return nodes.length > 0 ? firstOf(nodes, LONGEST_LIST) : 'no nodes';
};
const widthText = (updates: number, atATime: number, firstWave: number | undefined): string => {
  if (firstWave !== undefined) return `, ${firstWave} at first, then up to ${atATime} at a time`;
  return updates > atATime ? `, ${atATime} at a time` : '';
};

/** `3 updates, 2 at a time; at least 24h; an approval`; empty for a stage that is passed. */
const describeTime = ({
  state,
  updates,
  atATime,
  firstWave,
  seconds = 0,
  measured,
  needsApproval,
}: PlannedStage): string => {
  if (state === 'passed') return '';
  const parts = [
    ...(updates > 0
      ? [`${updates} ${updates === 1 ? 'update' : 'updates'}${widthText(updates, atATime, firstWave)}`]
      : []),
    ...(seconds > 0 ? [`${measured ? 'about' : 'at least'} ${formatSeconds(seconds)}`] : []),
    ...(needsApproval ? ['an approval'] : []),
  ];
  return parts.join('; ');
};

/** `begins about 2030-01-01T02:00:00Z, if lab is approved`; empty for a stage whose updates may begin now. */
const describeBegin = ({ state, updates, beginsAt, waitsFor, isLowerBound, approvals = [] }: PlannedStage): string => {
  if (state === 'passed') return '';
  const verb = updates > 0 ? 'begins' : 'opens';
  if (waitsFor !== undefined) return `${verb} ${waitsFor}`;
  if (beginsAt === undefined) return '';
  const about = `${verb} ${isLowerBound ? 'not before' : 'about'} ${beginsAt}`;
  return approvals.length > 0 ? `${about}, after approval of ${approvals.join(' and ')}` : about;
};

const ESTIMATE =
  'The times are estimates: as if nodes stayed online, no update failed, checks held, and approvals came at once.';

const toneOf = { passed: 'good', open: 'accent', closed: 'dim' } as const;

/** The stages as lines: the nodes of each, what is left to do there, and when it can begin. */
export const renderStages = (stages: readonly PlannedStage[]): TonedLine[] => {
  // As in the status, which has the stage of all others only if it has nodes.
  const shown = stages.filter(({ name, nodes }) => name !== REST_STAGE || nodes.length > 0);
  const lines = shown.flatMap((stage): TonedLine[] => [
    { ...headed(`${stage.name} (${stage.state}):`, toneOf[stage.state], ` ${describeNodes(stage)}`), depth: 1 },
    ...[describeTime(stage), describeBegin(stage)].filter((line) => line !== '').map((text) => ({ text, depth: 2 })),
  ]);
  return shown.some(({ beginsAt }) => beginsAt !== undefined) ? [...lines, { text: ESTIMATE, tone: 'dim' }] : lines;
};
