import type {
  CheckState,
  DaemonRolloutPastStage,
  DaemonRolloutStage,
  StageDecision,
  StagePromotion,
} from '../../words/index.ts';

/** How a check of the open stage stands. */
export interface CheckStatus {
  state: CheckState;
  /** Evaluations whose condition was false. */
  failures: number;
  /** When it was evaluated last, epoch ms; 0 before the first time. */
  at: number;
  /** What was asked and answered, or why there is no result. */
  message: string;
}

/** A stage that was opened in this rollout. Times are epoch ms. */
export interface StageState {
  name: string;
  openedAt: number;
  /** Since when enough nodes are at the target; undefined while they are not. */
  coveredAt: number | undefined;
  /** When the soak that began then ends. */
  soakUntil: number | undefined;
  /** By name. */
  checks: Readonly<Record<string, CheckStatus>>;
  promoted:
    | {
        at: number;
        how: StagePromotion;
        by: string | undefined;
        /** What people decided. Only the history keeps it. */
        decisions?: readonly StageDecision[];
      }
    | undefined;
  /** The nodes of a stage with `count`: their `sampleCode`s, one after the other. */
  sample: string | undefined;
}

export const openedStage = (name: string, openedAt: number, sample: string | undefined): StageState => ({
  name,
  openedAt,
  coveredAt: undefined,
  soakUntil: undefined,
  checks: {},
  promoted: undefined,
  sample,
});

const time = (ms: number): string => new Date(ms).toISOString();
const parse = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text));

type SavedStage = Omit<DaemonRolloutStage, 'name' | 'state' | 'nodes' | 'awaits'>;

/** The fields of the status from which the next leader continues. */
export const saveStage = ({ openedAt, coveredAt, soakUntil, checks, promoted, sample }: StageState): SavedStage => {
  const results = Object.entries(checks).map(([name, { state, failures, at, message }]) => ({
    name,
    state,
    failures,
    ...(at > 0 && { at: time(at) }),
    ...(message !== '' && { message }),
  }));
  return {
    openedAt: time(openedAt),
    ...(coveredAt !== undefined && { coveredAt: time(coveredAt) }),
    ...(soakUntil !== undefined && { soakUntil: time(soakUntil) }),
    ...(results.length > 0 && { checks: results }),
    ...(promoted && { promotedAt: time(promoted.at), promotion: promoted.how }),
    ...(promoted?.by !== undefined && { promotedBy: promoted.by }),
    ...(sample !== undefined && { sample }),
  };
};

/**
 * Reads what `saveStage` wrote; stages that were not opened have no state. `recorded`: the stages in the history of the same
 * rollout.
 */
export const restoreStages = (
  saved: readonly DaemonRolloutStage[] = [],
  recorded: readonly DaemonRolloutPastStage[] = [],
): StageState[] =>
  saved.flatMap(({ name, openedAt, coveredAt, soakUntil, checks = [], promotedAt, promotion, promotedBy, sample }) => {
    if (openedAt === undefined) return [];
    const promotedTime = parse(promotedAt);
    const decisions = recorded.find((stage) => stage.name === name)?.decisions;
    return [
      {
        name,
        openedAt: Date.parse(openedAt),
        coveredAt: parse(coveredAt),
        soakUntil: parse(soakUntil),
        checks: Object.fromEntries(
          checks.map(({ name: check, state, failures, at, message = '' }) => [
            check,
            { state, failures, at: parse(at) ?? 0, message },
          ]),
        ),
        promoted:
          promotedTime === undefined
            ? undefined
            : { at: promotedTime, how: promotion ?? 'Gates', by: promotedBy, ...(decisions && { decisions }) },
        sample,
      },
    ];
  });

/** A change of the open stage. It is written to the DaemonRollout before anything is begun because of it. */
export type StageAction =
  /** `sample`: the nodes of a stage with `count`, by their codes. */
  | { type: 'open-stage'; stage: string; sample?: string }
  /** Enough nodes are at the target. Times are epoch ms. */
  | { type: 'start-soak'; stage: string; at: number; until: number }
  /** Too few are, again. */
  | { type: 'end-soak'; stage: string }
  | { type: 'promote'; stage: string; how: StagePromotion; by?: string; decisions?: readonly StageDecision[] };

/** The stages after a decision about the open one. */
export const afterStageAction = (
  stages: readonly StageState[],
  action: StageAction,
  now: number,
): readonly StageState[] => {
  const change = (next: Partial<StageState>): readonly StageState[] =>
    stages.map((stage) => (stage.name === action.stage ? { ...stage, ...next } : stage));
  switch (action.type) {
    case 'open-stage':
      return [...stages, openedStage(action.stage, now, action.sample)];
    case 'start-soak':
      return change({ coveredAt: action.at, soakUntil: action.until, checks: {} });
    case 'end-soak':
      return change({ coveredAt: undefined, soakUntil: undefined, checks: {} });
    case 'promote':
      return change({
        promoted: {
          at: now,
          how: action.how,
          by: action.by,
          ...(action.decisions && { decisions: action.decisions }),
        },
      });
  }
};

/** A resume forgives checks: they are evaluated again. */
export const withoutFailedChecks = (stages: readonly StageState[]): readonly StageState[] =>
  stages.map((stage) =>
    Object.values(stage.checks).some(({ state }) => state === 'Failed') ? { ...stage, checks: {} } : stage,
  );
