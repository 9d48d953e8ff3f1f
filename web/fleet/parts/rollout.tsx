import type { ComponentChild } from 'preact';
import type { RolloutRef } from '../api.ts';
import { BY_STAGE, go, route, UNGROUPED } from '../route.ts';
import { groupedBy, groups, labelKeys, nothing, size } from '../store.ts';
import { text } from '../text/index.ts';
import { bySeverity, type RolloutHead } from '../types.ts';
import { ago } from '../view/ago.ts';
import { Actions } from './actions.tsx';
import { useCommands } from './command-dialog.tsx';
import { Drawer } from './drawer.tsx';
import { FleetGrid } from './fleet.tsx';
import { PastRollouts } from './past-rollouts.tsx';
import { PhaseMark } from './phase-mark.tsx';
import { StageDots, Stages } from './stages.tsx';
import { TimeLine } from './time-line.tsx';

/** The phases with their counts: a legend, and a filter. */
const Legend = ({ head }: { head: RolloutHead }) => (
  <div class="legend" role="group" aria-label={text.rollout.phases}>
    {bySeverity.map((phase) => (
      <button
        key={phase}
        type="button"
        aria-pressed={route.value.phase === phase}
        disabled={head.phases[phase] === 0 && route.value.phase !== phase}
        onClick={() => go({ phase: route.value.phase === phase ? '' : phase })}
      >
        <PhaseMark phase={phase} />
        {text.rollout.phase(head.phases[phase], phase)}
      </button>
    ))}
  </div>
);

const Causes = ({ head }: { head: RolloutHead }) => (
  <ul class="causes" aria-label={text.rollout.causes}>
    {head.causes.map(({ cause, count }) => (
      <li key={cause}>{text.rollout.cause(count, cause)}</li>
    ))}
  </ul>
);

const Filters = ({ head }: { head: RolloutHead }) => {
  const { search } = route.value;
  return (
    <div class="filters">
      <label>
        {text.rollout.groupBy}
        <select value={groupedBy.value} onChange={(event) => go({ group: event.currentTarget.value })}>
          <option value={UNGROUPED}>{text.rollout.ungrouped}</option>
          {head.stages && <option value={BY_STAGE}>{text.rollout.byStage}</option>}
          {labelKeys.value.map((key) => (
            <option key={key} value={key}>
              {key}
            </option>
          ))}
        </select>
      </label>
      <label>
        {text.rollout.node}
        <input type="search" value={search} onInput={(event) => go({ search: event.currentTarget.value })} />
      </label>
    </div>
  );
};

const Revisions = ({ head }: { head: RolloutHead }) => (
  <details>
    <summary>{text.rollout.revisions}</summary>
    <ul>
      {head.revisions.map(({ hash, number, images }) => (
        <li key={hash} aria-current={hash === head.target ? 'true' : undefined}>
          {number}: <code>{hash}</code> {images.join(', ')}{' '}
          {hash === head.target && <strong>{text.rollout.target}</strong>}
        </li>
      ))}
    </ul>
  </details>
);

/** The cells, and beside them what is open. */
const Fleet = ({ rollout, head, stages }: { rollout: RolloutRef; head: RolloutHead; stages: ComponentChild }) => {
  const { node } = route.value;
  const steps = groupedBy.value === BY_STAGE ? head.stages?.steps : undefined;
  const isBeside = node !== '' || steps !== undefined;
  return (
    <div class={isBeside ? 'fleet beside' : 'fleet'}>
      <div>
        {groups.value.map(({ name, nodes }) => (
          <FleetGrid
            key={name}
            name={name}
            nodes={nodes}
            all={size.value}
            step={steps?.find((step) => step.name === name)}
          />
        ))}
      </div>
      {isBeside && (
        <div class="side">
          {node !== '' && <Drawer rollout={rollout} node={node} />}
          {steps && stages}
        </div>
      )}
    </div>
  );
};

const Known = ({ rollout, head }: { rollout: RolloutRef; head: RolloutHead }) => {
  const { ask, dialog } = useCommands(head);
  const stages = head.stages && <Stages {...head.stages} ask={ask} />;
  const [first = '', ...sentences] = head.sentences;
  return (
    <>
      <div class="title">
        <h1>{head.name}</h1>
        <p class="soft">
          {text.rollout.about(head.title, head.namespace, ago(head.startedAt))}
          {head.finishedAt && text.rollout.finished(ago(head.finishedAt))}
          {text.rollout.budget(head.budget.inUse, head.budget.limit)}
        </p>
      </div>
      <div class={head.halted ? 'said bad' : 'said'} role="status">
        <p>
          <strong>{first}</strong>
        </p>
        {sentences.map((said) => (
          <p key={said}>{said}</p>
        ))}
      </div>
      {head.stages && <StageDots stages={head.stages.steps} />}
      {groupedBy.value !== BY_STAGE && stages}
      <Actions head={head} ask={ask} />
      {dialog}
      <TimeLine head={head} />
      <Legend head={head} />
      <Filters head={head} />
      <Fleet rollout={rollout} head={head} stages={stages} />
      <Causes head={head} />
      <Revisions head={head} />
      <PastRollouts head={head} />
    </>
  );
};

export const Rollout = ({ rollout, head }: { rollout: RolloutRef; head: RolloutHead | undefined }) =>
  head ? (
    <Known rollout={rollout} head={head} />
  ) : (
    <section class="empty">
      <h1>{rollout.name}</h1>
      <p role="status">{nothing.value === '' ? text.rollout.reading : nothing.value}</p>
    </section>
  );
