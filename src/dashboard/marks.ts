import type { DaemonRolloutStatus } from '../words/index.ts';
import type { RolloutHead } from './messages.ts';

type Mark = RolloutHead['marks'][number];
type Halt = NonNullable<DaemonRolloutStatus['halted']>;

const haltTexts: Readonly<Record<Halt['reason'], (halt: Halt) => string>> = {
  Failures: () => 'Halted: too many nodes failed',
  CheckFailed: ({ check = '' }) => `Halted: check ${check} failed`,
  RolledBack: () => 'Halted: this revision was rolled back before',
  ImageDrift: () => 'Halted: an image differs between nodes',
};

const decided = { Approve: 'approved', Promote: 'promoted' } as const;

/** What happened to the stages, and who let it happen. */
const ofStages = ({ history = [] }: DaemonRolloutStatus): Mark[] =>
  (history[0]?.stages ?? []).flatMap(({ name, openedAt, promotedAt, decisions = [] }): Mark[] => [
    { at: openedAt, kind: 'stage', what: `Stage ${name} opened` },
    ...decisions.map(
      ({ decision, by, comment = '', at = promotedAt ?? openedAt }): Mark => ({
        at,
        kind: 'approval',
        what: `Stage ${name} ${decided[decision]} by ${by}${comment && `: ${comment}`}`,
      }),
    ),
  ]);

/** The last halt, and its end. */
const ofHalt = ({ halted, history = [], conditions = [] }: DaemonRolloutStatus): Mark[] => {
  if (halted) return [{ at: halted.at, kind: 'halt', what: haltTexts[halted.reason](halted) }];
  const at = history[0]?.haltedAt;
  if (at === undefined) return [];
  const over = conditions.find(({ type, status }) => type === 'Halted' && status === 'False');
  const isLater = over !== undefined && Date.parse(over.lastTransitionTime) >= Date.parse(at);
  return [
    { at, kind: 'halt', what: 'Halted' },
    ...(isLater ? [{ at: over.lastTransitionTime, kind: 'resume', what: 'Resumed after the halt' } as const] : []),
  ];
};

/** The last pause, or its end: the condition has only one of the two. */
const ofPause = ({ startedAt, conditions = [] }: DaemonRolloutStatus): Mark[] => {
  const paused = conditions.find(({ type }) => type === 'Paused');
  if (!paused || startedAt === undefined) return [];
  const { status, reason, lastTransitionTime: since } = paused;
  const isFromBefore = Date.parse(since) <= Date.parse(startedAt);
  const what = reason === 'ZeroBudget' ? 'Stopped by a budget of zero' : 'Paused';
  if (status === 'True') return [{ at: isFromBefore ? startedAt : since, kind: 'pause', what }];
  return status === 'False' && !isFromBefore ? [{ at: since, kind: 'resume', what: 'Resumed after a pause' }] : [];
};

/** What the time line of the present rollout marks, oldest first. */
export const marksOf = (status: DaemonRolloutStatus | undefined): readonly Mark[] => {
  if (!status) return [];
  const { finishedAt } = status;
  const marks: Mark[] = [
    ...ofStages(status),
    ...ofHalt(status),
    ...ofPause(status),
    ...(finishedAt === undefined
      ? []
      : [{ at: finishedAt, kind: 'complete', what: 'All online nodes updated' } as const]),
  ];
  return marks.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
};
