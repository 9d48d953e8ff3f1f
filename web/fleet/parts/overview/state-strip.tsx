import { go, route } from '../../route.ts';
import { silent } from '../../store.ts';
import { text } from '../../text/index.ts';
import { type RolloutRow, rolloutStates, stateGroups, type Tone } from '../../types.ts';
import { countOf, type Filter, filters, unread, widest } from '../../view/overview.ts';

const toneOf = (filter: Filter): Tone => (filter === 'offline' ? 'idle' : rolloutStates[stateGroups[filter][0]].tone);

const Count = ({ filter, title, hint }: { filter: Filter; title: string; hint?: string }) => {
  const isOn = route.value.only === filter;
  return (
    <button
      type="button"
      class={`filter ${toneOf(filter)}`}
      aria-pressed={isOn}
      title={hint}
      onClick={() => go({ only: isOn ? '' : filter })}
    >
      {title}
    </button>
  );
};

/** How many rollouts need what. Each count shows those alone. */
export const StateStrip = ({ rows, clusters = 0 }: { rows: readonly RolloutRow[]; clusters: number | undefined }) => {
  const { only } = route.value;
  const most = widest(rows);
  const [first, ...others] = most;
  const sumOf = (count: string): number => most.reduce((sum, { nodes }) => sum + (nodes[count] ?? 0), 0);
  const offline = sumOf('offline');
  const silentCount = unread(silent.value).length;
  return (
    <div class="strip" role="group" aria-label={text.overview.filters}>
      {filters.map((filter) => {
        if (filter === 'offline') return null;
        const count = countOf(rows, filter);
        return count > 0 || only === filter ? (
          <Count key={filter} filter={filter} title={text.overview.groups[filter](count)} />
        ) : null;
      })}
      {silentCount > 0 && (
        <span class="wait" role="status">
          {text.overview.silentOf(silentCount, clusters)}
        </span>
      )}
      {first && (offline > 0 || only === 'offline') && (
        <Count
          filter="offline"
          title={text.overview.offline(offline, sumOf('eligible'))}
          hint={others.length > 0 ? text.overview.offlineOfEach : text.overview.offlineOf(first.name)}
        />
      )}
    </div>
  );
};
