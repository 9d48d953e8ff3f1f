import type { Store } from '../store.ts';
import type { Update } from '../types.ts';
import { type StepState, stepsOf } from '../view/steps.ts';

export const Steps = ({ store, update }: { store: Store; update: Update }) => {
  const { text } = store;
  const device = store.device.value;
  const steps = device === null ? [] : stepsOf(update, device, store.now.value - store.doneAt(update), text);
  if (steps.length === 0) return null;
  const words: Readonly<Record<StepState, string>> = {
    done: text.steps.done,
    current: text.steps.current,
    ahead: text.steps.ahead,
    failed: text.steps.failed,
  };
  return (
    <ol class="steps" aria-label={text.steps.label(update.daemonSet)}>
      {steps.map(({ label, state, note }) => (
        <li key={label} class={`step step-${state}`} aria-current={state === 'current' ? 'step' : undefined}>
          <span class="dot" aria-hidden="true" />
          <div>
            <p>
              {label}
              <span class="hidden">, {words[state]}</span>
            </p>
            {note !== '' && <p class="note">{note}</p>}
          </div>
        </li>
      ))}
    </ol>
  );
};
