import type { RefObject } from 'preact';
import type { Store } from '../store.ts';
import type { Decision, Update } from '../types.ts';

const sayDecision = (store: Store, update: Update, decision: Decision): string => {
  const { decided } = store.text;
  const { deadline } = update;
  if (deadline?.first) return decided.overtaken(store.moments.value.say(Date.parse(deadline.actsAt)));
  const choice = decision.decision;
  if (decision.by.via === 'agent') return decided.deadline;
  if (choice.choice === 'reject') return decided.rejected;
  if (choice.choice === 'postpone') return decided.postponed(store.moments.value.say(Date.parse(choice.until)));
  const { when } = choice;
  switch (when.type) {
    case 'now':
      return decided.now;
    case 'safe':
      return decided.safe;
    case 'window':
      return when.days && when.days.length > 0
        ? decided.windowDays(when.from, when.to, store.moments.value.weekdays(when.days))
        : decided.window(when.from, when.to);
  }
};

interface Props {
  store: Store;
  update: Update;
  decision: Decision;
  busy: boolean;
  button: RefObject<HTMLButtonElement | null>;
  onChange: () => void;
}

export const Decided = ({ store, update, decision, busy, button, onChange }: Props) => {
  const { text } = store;
  return (
    <div class="decided">
      <p>
        {sayDecision(store, update, decision)}{' '}
        <span class="note">{text.decided.at(store.moments.value.say(Date.parse(decision.at)))}</span>
      </p>
      <button type="button" class="quiet framed" ref={button} aria-disabled={busy} onClick={onChange}>
        {text.choice.change}
        <span class="hidden">{text.forApp(update.daemonSet)}</span>
      </button>
    </div>
  );
};
