import type { Clock } from '../../runtime/index.ts';
import type { Feed } from '../feed.ts';
import { type OverviewMessage, type RolloutRef, type RolloutRow, rolloutKey } from '../messages.ts';
import { type Access, ANSWER_MS } from './callers.ts';
import type { Group } from './sessions.ts';

const AT_ONCE = 8;

const groupOf = ({ namespace, kind }: Group): string => `${namespace}/${kind}`;

/** The rows of namespaces that the caller may see. */
const filterRows = async (
  all: ReadonlyMap<string, RolloutRow>,
  access: Access,
): Promise<ReadonlyMap<string, RolloutRow>> => {
  const groups = [...new Map([...all.values()].map((row) => [groupOf(row), row]))];
  const visible = new Set<string>();
  for (let at = 0; at < groups.length; at += AT_ONCE)
    await Promise.all(
      groups.slice(at, at + AT_ONCE).map(async ([group, { namespace, kind }]) => {
        if (await access.maySee(namespace, kind)) visible.add(group);
      }),
    );
  return new Map([...all].filter(([, row]) => visible.has(groupOf(row))));
};

/**
 * What one caller may see of the rollouts that all callers share. Rights are asked for again and again. While the API server
 * does not answer, nothing more is shown.
 */
export const visibleRollouts = (feed: Feed<OverviewMessage>, access: Access, clock: Clock): Feed<OverviewMessage> => ({
  subscribe(listener) {
    const all = new Map<string, RolloutRow>();
    let shown: ReadonlyMap<string, RolloutRow> | undefined;
    let isDirty = false;
    let isBusy = false;
    let isOver = false;

    const show = async (): Promise<void> => {
      const next = await filterRows(new Map(all), access);
      if (isOver) return;
      const before = shown;
      shown = next;
      if (!before) {
        listener({ type: 'rollouts', rows: [...next.values()] });
        return;
      }
      const rows = [...next].filter(([key, row]) => before.get(key) !== row).map(([, row]) => row);
      const gone = [...before.keys()].filter((key) => !next.has(key));
      if (rows.length > 0 || gone.length > 0) listener({ type: 'change', rows, gone });
    };
    const update = async (): Promise<void> => {
      if (isBusy) return;
      isBusy = true;
      try {
        while (isDirty && !isOver) {
          isDirty = false;
          await show();
        }
      } catch {
        isDirty = true;
      }
      isBusy = false;
    };
    const changed = (): void => {
      isDirty = true;
      void update();
    };
    const again = (): void => {
      changed();
      timer = clock.timer(ANSWER_MS, again);
    };
    let timer = clock.timer(ANSWER_MS, again);
    const end = feed.subscribe((message) => {
      if (message.type === 'rollouts') all.clear();
      else for (const key of message.gone) all.delete(key);
      for (const row of message.rows) all.set(rolloutKey(row), row);
      changed();
    });
    return () => {
      isOver = true;
      timer.cancel();
      end();
    };
  },
});

/** The rows of the feed now: it delivers all of them at once. */
const rowsOf = (feed: Feed<OverviewMessage>): readonly RolloutRow[] => {
  let now: readonly RolloutRow[] = [];
  feed.subscribe(({ rows }) => (now = rows))();
  return now;
};

/** The first namespace, of these and of all with rollouts, whose rollouts the caller may see; undefined for none. */
export const firstVisible = async (
  feed: Feed<OverviewMessage>,
  first: readonly Group[],
  access: Access,
): Promise<Group | undefined> => {
  const all = [...first, ...rowsOf(feed)].map((group) => [groupOf(group), group] as const);
  const groups = [...new Map(all).values()];
  for (let at = 0; at < groups.length; at += AT_ONCE) {
    const some = groups.slice(at, at + AT_ONCE);
    const visible = await Promise.all(some.map(({ namespace, kind }) => access.maySee(namespace, kind)));
    const found = some[visible.indexOf(true)];
    if (found) return { namespace: found.namespace, kind: found.kind };
  }
  return undefined;
};

/** Whether the feed has this rollout now. */
export const hasRollout = (feed: Feed<OverviewMessage>, wanted: RolloutRef): boolean =>
  rowsOf(feed).some((row) => rolloutKey(row) === rolloutKey(wanted));
