import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from '../../icon.tsx';
import type { Doing, Store } from '../store.ts';
import type { Update } from '../types.ts';
import { sayDuration } from '../view/amount.ts';
import { answersOf, askAgainAt, type ChoiceName, chosenName } from '../view/choices.ts';
import { Confirm } from './confirm.tsx';
import { Decided } from './decided.tsx';

interface ButtonProps {
  name: ChoiceName;
  icon: IconName;
  label: string;
  hint: string;
}

const hintForNow = (store: Store, update: Update): string => {
  const { choice } = store.text;
  const device = store.device.value;
  if (device?.connected === false) return choice.nowHintOffline;
  if (device?.safe.configured === true && device.safe.safe === false) return choice.nowHintUnsafe;
  const seconds = store.tookSeconds(update);
  return seconds === undefined ? choice.nowHint : choice.nowHintTook(sayDuration(seconds, store.text.language));
};

const hintForLater = (store: Store, update: Update): string => {
  const { text, moments } = store;
  const until = askAgainAt(store.now.value, store.timeZone.value);
  const actsAt = Date.parse(update.deadline?.actsAt ?? '');
  return actsAt <= until
    ? text.choice.laterHintDeadline(moments.value.say(actsAt))
    : text.choice.laterHint(moments.value.say(until));
};

/** The question and its answers. Each answer says what it does before it is pressed. */
export const Decide = ({ store, update, doing }: { store: Store; update: Update; doing: Doing | undefined }) => {
  const { text } = store;
  const chosen = chosenName(update);
  const answers = answersOf(update, store.now.value, store.timeZone.value);
  const { tonight: night } = update.choices;
  const decided = update.decision?.state === 'open' ? update.decision : undefined;
  const [changing, setChanging] = useState(false);
  const [confirming, setConfirming] = useState<string | null>(null);
  const first = useRef<HTMLButtonElement>(null);
  const change = useRef<HTMLButtonElement>(null);
  const kept = useRef(false);
  const revision = update.target.revision ?? '';
  useEffect(() => {
    setChanging(false);
    setConfirming(null);
  }, [revision, decided?.id]);
  const mayReject = answers.reject !== undefined;
  useEffect(() => setConfirming(null), [mayReject]);
  useLayoutEffect(() => {
    if (changing) first.current?.focus();
    else if (kept.current) change.current?.focus();
    kept.current = false;
  }, [changing]);

  const usable = store.link.value === 'live' && doing === undefined;
  const choose = (name: ChoiceName, seen: string): void => {
    const choice = answers[name];
    if (!usable || chosen === name || !choice) return;
    void store.choose(update, seen, name, choice);
  };
  const button = ({ name, icon, label, hint }: ButtonProps) => (
    <button
      key={name}
      ref={name === 'now' ? first : null}
      type="button"
      class={name === 'now' ? 'choice main' : 'choice'}
      // Not `disabled`, which would lose the keyboard focus.
      aria-disabled={!usable || chosen === name}
      aria-busy={doing === name}
      onClick={() => choose(name, revision)}
    >
      <Icon name={icon} />
      <span class="choice-label">
        {doing === name ? text.choice.sending : label}
        <span class="hidden">{text.forApp(update.daemonSet)} </span>
      </span>
      <span class="choice-hint">{hint}</span>
    </button>
  );

  if (decided && !changing) {
    const onChange = (): void => setChanging(usable);
    return (
      <Decided store={store} update={update} decision={decided} busy={!usable} button={change} onChange={onChange} />
    );
  }
  const onKeep = (): void => {
    kept.current = true;
    setChanging(false);
  };
  const { now, tonight, tonightHint, later, reject, keep, legend } = text.choice;
  return (
    <div class="decide" role="group" aria-label={legend(update.daemonSet)}>
      <div class="choices">
        {button({ name: 'now', icon: 'refresh-cw', label: now, hint: hintForNow(store, update) })}
        {night && button({ name: 'tonight', icon: 'moon', label: tonight, hint: tonightHint(night.from, night.to) })}
        {answers.later && button({ name: 'later', icon: 'clock', label: later, hint: hintForLater(store, update) })}
      </div>
      <div class="quiet-row">
        {decided && (
          <button type="button" class="quiet" onClick={onKeep}>
            {keep}
          </button>
        )}
        {mayReject && chosen !== 'reject' && (
          <button
            type="button"
            class="faint"
            aria-disabled={!usable}
            onClick={() => setConfirming(usable ? revision : null)}
          >
            {reject}
            <span class="hidden">{text.forApp(update.daemonSet)}</span>
          </button>
        )}
      </div>
      {store.link.value !== 'live' && <p class="note">{text.agent.silentNote}</p>}
      {confirming !== null && (
        <Confirm
          store={store}
          update={update}
          onYes={() => {
            choose('reject', confirming);
            setConfirming(null);
          }}
          onNo={() => setConfirming(null)}
        />
      )}
    </div>
  );
};
