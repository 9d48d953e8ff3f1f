import { go, route } from '../../route.ts';
import { text } from '../../text/index.ts';
import { type RolloutRow, rolloutStates, stateGroups, type Tone } from '../../types.ts';
import { countOf, type Filter, filters, widest } from '../../view/overview.ts';

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
export const StateStrip = ({ rows }: { rows: readonly RolloutRow[] }) => {
  const { only } = route.value;
  const most = widest(rows);
  const offline = most?.nodes['offline'] ?? 0;
  return (
    <div class="strip" role="group" aria-label={text.overview.filters}>
      {filters.map((filter) => {
        if (filter === 'offline') return null;
        const count = countOf(rows, filter);
        return count > 0 || only === filter ? (
          <Count key={filter} filter={filter} title={text.overview.groups[filter](count)} />
        ) : null;
      })}
      {most && (offline > 0 || only === 'offline') && (
        <Count
          filter="offline"
          title={text.overview.offline(offline, most.nodes['eligible'] ?? 0)}
          hint={text.overview.offlineOf(most.name)}
        />
      )}
    </div>
  );
};
