import { text } from '../../text/index.ts';
import type { RolloutHead } from '../../types.ts';
import { type Asked, undoTarget } from '../../view/effects.ts';

type Ask = (request: Asked) => void;

/** The commands of `kubectl edgeset` for the whole rollout, without the one that the card below has. */
export const Actions = ({ head, ask }: { head: RolloutHead; ask: Ask }) => {
  const { state, commands } = head.headline;
  const [first] = commands;
  const isHalted = state === 'halted';
  const button = (command: 'pause' | 'resume' | 'undo' | 'plan', title: string, look = '') =>
    first?.command !== command && (
      <button type="button" class={look} onClick={() => ask({ command })}>
        {title}
      </button>
    );
  return (
    <div class="actions">
      {!isHalted && state !== 'paused' && button('pause', text.actions.pause, state === 'complete' ? 'quiet' : '')}
      {state === 'paused' && button('resume', text.actions.resume)}
      {button('undo', text.actions.undo(undoTarget(head, undefined)))}
      {state !== 'complete' && button('plan', text.actions.preview)}
      {isHalted && button('resume', text.actions.resumeAnyway, 'quiet')}
    </div>
  );
};
