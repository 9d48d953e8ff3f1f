import { go } from '../../route.ts';
import { isOld } from '../../store.ts';
import { text } from '../../text/index.ts';
import { type RolloutHead, rolloutStates } from '../../types.ts';
import { ago } from '../../view/ago.ts';
import { type Asked, undoTarget } from '../../view/effects.ts';
import type { Group } from '../../view/groups.ts';
import { withLocalTimes } from '../../view/local-time.ts';
import { Typed } from '../copy.tsx';

type Command = RolloutHead['headline']['commands'][number];
type Action = Command & { command: Exclude<Command['command'], 'edit'> };

const isAction = (command: Command | undefined): command is Action =>
  command !== undefined && command.command !== 'edit';

/** Where most of the failed nodes are, if the nodes are grouped by something that may be to blame. */
const worstOf = (groups: readonly Group[]): string => {
  const [worst] = groups.toSorted((a, b) => b.phases.failed - a.phases.failed);
  if (!worst || worst.name === '' || groups.length < 2 || worst.phases.failed < 2) return '';
  return text.why.worst(worst.phases.failed, worst.nodes.length, worst.name);
};

const act = ({ command, stage }: Action, ask: (request: Asked) => void): void => {
  if (command === 'set') go({ tab: 'settings' });
  else ask({ command, ...(stage !== undefined && { stage }) });
};

const labelOf = ({ command, stage = '' }: Action, head: RolloutHead): string => {
  if (command === 'undo') return text.actions.undo(undoTarget(head, undefined));
  if (command === 'set') return text.tabs.names.settings;
  return command === 'approve' ? text.stages.approve(stage) : text.actions.resume;
};

/** Why the rollout stands where it does, and what to do about it. */
export const Why = ({
  head,
  groups,
  ask,
}: {
  head: RolloutHead;
  groups: readonly Group[];
  ask: (request: Asked) => void;
}) => {
  const { state, title: said, evidence, cause, node, commands } = head.headline;
  if (said === '') return null;
  const since = state === 'paused' ? ago(head.stoppedAt) : '';
  const title = withLocalTimes(since === '' ? said : text.why.since(said, since));
  const { tone } = rolloutStates[state];
  const [first] = commands;
  const worst = tone === 'bad' ? worstOf(groups) : '';
  return (
    <section class={`why card ${tone}`} aria-labelledby="why">
      <div class="what">
        <h2 id="why">{title}</h2>
        {evidence !== '' && (
          <p class="soft">
            {withLocalTimes(evidence)} {worst}
          </p>
        )}
        {first && <Typed command={first.typed} />}
      </div>
      <div class="act">
        {cause && <span class={`badge ${tone}`}>{text.why.cause(cause.cause, cause.count)}</span>}
        {node !== undefined && (
          <button type="button" class="quiet" onClick={() => go({ node })}>
            {text.why.first(node)}
          </button>
        )}
        {isAction(first) && (
          <button
            type="button"
            class={tone === 'bad' ? 'danger' : 'main'}
            disabled={isOld.value}
            onClick={() => act(first, ask)}
          >
            {labelOf(first, head)}
          </button>
        )}
      </div>
    </section>
  );
};

/** What else is worth knowing, without shouting. */
export const Notes = ({ head: { notes } }: { head: RolloutHead }) =>
  notes.length === 0 ? null : (
    <ul class="notes" aria-label={text.why.notes}>
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
