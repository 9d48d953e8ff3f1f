import { BY_STAGE, go, route, UNGROUPED } from '../../route.ts';
import { groupedBy, groups, labelKeys, size } from '../../store.ts';
import { text } from '../../text/index.ts';
import type { RolloutHead } from '../../types.ts';
import type { Asked } from '../command/command-dialog.tsx';
import { GroupCard } from './group-card.tsx';
import { Legend } from './legend.tsx';
import { Owners } from './owners.tsx';

const Filters = ({ head }: { head: RolloutHead }) => {
  const { search, sort, value } = route.value;
  const by = groupedBy.value;
  // Somebody may have sent the address of another cluster.
  const isKnown = by === UNGROUPED || by === BY_STAGE || labelKeys.value.includes(by);
  return (
    <div class="filters">
      <label>
        {text.rollout.groupBy}
        <select value={by} onChange={(event) => go({ group: event.currentTarget.value, value: '' })}>
          <option value={UNGROUPED}>{text.rollout.ungrouped}</option>
          {head.stages && <option value={BY_STAGE}>{text.rollout.byStage}</option>}
          {!isKnown && <option value={by}>{by}</option>}
          {labelKeys.value.map((key) => (
            <option key={key} value={key}>
              {key}
            </option>
          ))}
        </select>
      </label>
      {value !== '' && (
        <button type="button" class="chip" aria-label={text.fleet.showAll(value)} onClick={() => go({ value: '' })}>
          {value} <span aria-hidden="true">×</span>
        </button>
      )}
      {groups.value.length > 1 && by !== BY_STAGE && (
        <label>
          {text.rollout.sort}
          <select value={sort} onChange={(event) => go({ sort: event.currentTarget.value === 'name' ? 'name' : '' })}>
            <option value="">{text.rollout.worstFirst}</option>
            <option value="name">{text.rollout.byName}</option>
          </select>
        </label>
      )}
      <label>
        {text.rollout.node}
        <input type="search" value={search} onInput={(event) => go({ search: event.currentTarget.value })} />
      </label>
    </div>
  );
};

const Causes = ({ head }: { head: RolloutHead }) => (
  <div class="causes">
    <span id="causes">{text.rollout.causes}</span>
    <ul aria-labelledby="causes">
      {head.causes.map(({ cause, count }) => (
        <li key={cause}>{text.rollout.cause(count, cause)}</li>
      ))}
    </ul>
  </div>
);

/** The map: a cell for each node, in cards of groups. */
export const Fleet = ({ head, ask }: { head: RolloutHead; ask: (request: Asked) => void }) => {
  const steps = groupedBy.value === BY_STAGE ? head.stages?.steps : undefined;
  const all = groups.value;
  return (
    <section class="fleet" aria-label={text.fleet.title}>
      <div class="above">
        <Legend head={head} />
        <Filters head={head} />
      </div>
      {head.owners && <Owners owners={head.owners} />}
      <div class={all.length > 1 ? 'cards' : 'cards single'}>
        {all.map((group) => (
          <GroupCard
            key={group.name}
            group={group}
            all={size.value}
            step={steps?.find((step) => step.name === group.name)}
            ask={ask}
          />
        ))}
      </div>
      <Causes head={head} />
    </section>
  );
};
