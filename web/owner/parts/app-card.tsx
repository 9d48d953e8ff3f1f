import { useLayoutEffect, useRef } from 'preact/hooks';
import { keyOf, type Store } from '../store.ts';
import type { Update } from '../types.ts';
import { isWithheld, mayDecide } from '../view/choices.ts';
import { Administrator } from './administrator.tsx';
import { Decide } from './decide.tsx';
import { Deadline, Details, Download, Remarks, Versions } from './facts.tsx';
import { Notes } from './notes.tsx';
import { Steps } from './steps.tsx';

const TONES: Readonly<Record<Update['state'], string>> = {
  current: 'good',
  available: 'ask',
  postponed: 'wait',
  rejected: 'rest',
  queued: 'wait',
  updating: 'ask',
  failed: 'bad',
  halted: 'rest',
  unknown: 'bad',
};

/**
 * When the focused element is removed by a change of state, the focus moves to the app's name instead of the top of the
 * page.
 */
const useFocusKept = () => {
  const card = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const held = useRef(false);
  // The page is not updated yet, so this is still the previously focused element.
  held.current = card.current?.contains(document.activeElement) ?? false;
  useLayoutEffect(() => {
    if (held.current && document.activeElement === document.body) heading.current?.focus();
  });
  return { card, heading };
};

export const AppCard = ({ store, update, alone }: { store: Store; update: Update; alone: boolean }) => {
  const { text } = store;
  const id = `app-${update.namespace}-${update.daemonSet}`;
  const doing = store.doing.value.get(keyOf(update));
  const notice = store.notices.value.get(keyOf(update));
  const { card, heading } = useFocusKept();
  return (
    <article
      ref={card}
      class={`card tone-${isWithheld(update) ? 'rest' : TONES[update.state]}`}
      aria-labelledby={id}
      data-state={update.state}
    >
      <div class="card-head">
        <h3 id={id} ref={heading} tabIndex={-1}>
          {update.daemonSet}
          {!alone && <small> {update.namespace}</small>}
        </h3>
        <p class="badge">{isWithheld(update) ? text.app.withheld : text.state[update.state]}</p>
      </div>
      {notice !== undefined && (
        <div class="notice tone-bad">
          <p role="alert">{notice.say(text)}</p>
          {notice.forAdministrator && <Administrator store={store} />}
          <button type="button" class="quiet" onClick={() => store.dismiss(keyOf(update))}>
            {text.notice.close}
            <span class="hidden">{text.forApp(update.daemonSet)}</span>
          </button>
        </div>
      )}
      <Versions store={store} update={update} />
      <Notes store={store} update={update} />
      <Remarks store={store} update={update} />
      <Deadline store={store} update={update} />
      <Steps store={store} update={update} />
      {(update.state === 'failed' || update.state === 'unknown') && <Administrator store={store} />}
      {mayDecide(update) && <Download store={store} update={update} busy={doing !== undefined} />}
      {mayDecide(update) && <Decide store={store} update={update} doing={doing} />}
      <Details store={store} update={update} />
    </article>
  );
};
