import { forecastWaves, type Plan, toTimestamp } from '../rollout/index.ts';

type Stage = Plan['stages'][number];

/** What is left to do in a stage. */
export interface StageTask {
  stage: Stage;
  /** As it was opened; undefined while it is closed. */
  opened:
    | { openedAt: number; soakUntil: number | undefined; coveredAt: number | undefined; promoted: object | undefined }
    | undefined;
  eligible: number;
  online: number;
  /** Updates until enough nodes run the target. */
  needed: number;
  /** Of the nodes that still need the update. */
  timeZones: readonly (string | undefined)[];
  /** Updates at a time. */
  width: number;
  /** How many updates follow one another until this many nodes are updated. */
  waves: (updates: number) => number;
  isApproved: boolean;
  /** By hand, which skips coverage, soak and checks. */
  isPromoted: boolean;
}

/** When the updates of a stage can begin. */
export interface StageTimes {
  /** The first of its updates, or its opening if it has none; absent for what may begin now, and if nobody can tell. */
  beginsAt?: string;
  /** When it can be passed, approvals aside; absent for the last stage, and if nobody can tell. */
  passesAt?: string;
  /** It takes longer than these times say, since no stage has shown yet how long an update takes. */
  isLowerBound?: boolean;
  /** Earlier stages that somebody has to approve first. */
  approvals?: string[];
  /** Why nobody can tell, as `after one of the nodes of lab comes online`. */
  waitsFor?: string;
}

export interface ForecastTerms {
  now: number;
  calendar: Plan['calendar'];
  /** How long the updates take that run at the same time. */
  waveMs: number;
  isMeasured: boolean;
  /** People decide when nodes are updated. */
  byOwners: boolean;
  /** No stage holds anything back. */
  lifted: boolean;
}

/** The first update and the last one, of all time zones. */
const updatesOf = ({ needed, timeZones, width, waves }: StageTask, start: number, terms: ForecastTerms) => {
  const { calendar, waveMs } = terms;
  const local = calendar.windows.some(({ timeZone }) => timeZone === 'node');
  const zones = [...Map.groupBy(timeZones, (zone) => (local ? zone : undefined))];
  const all = zones.map(([timeZone, { length }]) => {
    // Not all nodes need the target: which of them will be the last is not known.
    const share = Math.ceil((length * Math.min(needed, timeZones.length)) / timeZones.length);
    const count = width === 0 ? share : waves(share);
    const forecast = forecastWaves(calendar, { timeZone, count, ms: waveMs }, start);
    return share > 0 && width === 0 ? { ...forecast, endsAt: Number.POSITIVE_INFINITY } : forecast;
  });
  return {
    beginsAt: all.length === 0 ? start : Math.min(...all.map((one) => one.beginsAt)),
    endsAt: Math.max(start, ...all.map((one) => one.endsAt)),
  };
};

/** Why nobody can tell when the stage is passed; undefined if its times tell. */
const unforeseen = (task: StageTask, endsAt: number, { byOwners }: ForecastTerms): string | undefined => {
  const { stage, eligible, online, needed, width } = task;
  const least = Math.min(stage.minNodes, eligible);
  if (task.isPromoted || eligible === 0) return undefined;
  if (online === 0) return `after one of the nodes of ${stage.name} comes online`;
  if (online < least) return `after ${least} nodes of ${stage.name} are online`;
  if (needed > 0 && byOwners) return `after the owners of the nodes of ${stage.name} have updated them`;
  if (needed > 0 && width === 0) return `after the budget lets nodes of ${stage.name} be updated`;
  return Number.isFinite(endsAt) ? undefined : `after ${stage.name}, whose windows are too rare to tell`;
};

const passing = ({ stage, opened, isPromoted, eligible }: StageTask, start: number, endsAt: number): number => {
  if (isPromoted || eligible === 0) return start;
  const soaked = opened?.soakUntil === undefined ? endsAt + stage.soakMs : Math.max(start, opened.soakUntil);
  const timedOut = stage.promotesOnTimeout ? (opened?.openedAt ?? start) + (stage.timeoutMs ?? 0) : soaked;
  return Math.min(soaked, Math.max(start, timedOut));
};

/**
 * When the updates of each stage can begin, as if nodes stayed online, no update failed, checks held, and approvals came at once.
 * A rollout that is held counts as if it continued now.
 */
export const forecastStages = (tasks: readonly StageTask[], terms: ForecastTerms): StageTimes[] => {
  const { now, isMeasured } = terms;
  let start = now;
  let waitsFor: string | undefined;
  let isLowerBound = false;
  const approvals: string[] = [];
  const time = (ms: number): string => toTimestamp(Math.ceil(ms / 1000) * 1000);
  return tasks.map((task, index): StageTimes => {
    const { stage, opened, needed, isApproved } = task;
    if (opened?.promoted) return {};
    if (waitsFor !== undefined) return { waitsFor };
    const { beginsAt, endsAt } = updatesOf(task, start, terms);
    const before = { isLowerBound, approvals: [...approvals] };
    const times: StageTimes = {
      ...(before.isLowerBound && { isLowerBound: true }),
      ...(before.approvals.length > 0 && { approvals: before.approvals }),
      ...(Number.isFinite(beginsAt)
        ? beginsAt > now && { beginsAt: time(beginsAt) }
        : { waitsFor: 'at no time within a year' }),
    };
    if (terms.lifted) return times;
    waitsFor = unforeseen(task, endsAt, terms);
    if (needed > 0 && !isMeasured) isLowerBound = true;
    if (!isApproved) approvals.push(stage.name);
    start = passing(task, start, endsAt);
    const isLast = index === tasks.length - 1;
    return waitsFor === undefined && !isLast ? { ...times, passesAt: time(start) } : times;
  });
};
