import type { ComponentChildren } from 'preact';
import { Icon } from '../../icon.tsx';
import type { Store } from '../store.ts';
import { compareImages, type ImageChange, type Update } from '../types.ts';
import { saySize } from '../view/amount.ts';
import { isWithheld } from '../view/choices.ts';

const Change = ({ store, change, named }: { store: Store; change: ImageChange; named: boolean }) => {
  const { text } = store;
  const { name, from, to } = change;
  return (
    <p class="versions">
      {named && <span class="part">{name}</span>}
      <span class="version">{from === '' ? text.app.added : from}</span>
      <Icon name="arrow-right" />
      <span class="hidden"> {text.app.arrow} </span>
      <span class="version version-new">{to === '' ? text.app.removed : to}</span>
    </p>
  );
};

const Installed = ({ store, changes }: { store: Store; changes: readonly ImageChange[] }) => (
  <p class="versions">
    <span class="part">{store.text.app.installed}</span>
    {changes.map(({ container, name, from }) => (
      <span key={container} class="version">
        {changes.length > 1 ? `${name} ${from}` : from}
      </span>
    ))}
  </p>
);

/** What is installed and, if there is a new version, what it changes to. */
export const Versions = ({ store, update }: { store: Store; update: Update }) => {
  const { text } = store;
  const { running, target, state } = update;
  const changes = compareImages(running.images, state === 'current' ? null : target.images);
  const changed = changes.filter((change) => change.changed);
  const same = changes.filter((change) => !change.changed);
  if (changed.length === 0) {
    return (
      <>
        {changes.length > 0 && <Installed store={store} changes={changes} />}
        {state !== 'current' && state !== 'unknown' && target.images === null && (
          <p class="note">{text.app.newUnknown}</p>
        )}
      </>
    );
  }
  return (
    <>
      {changed.map((change) => (
        <Change key={change.container} store={store} change={change} named={changes.length > 1} />
      ))}
      {same.length > 0 && <p class="note">{text.app.same(same.map(({ name }) => name).join(', '))}</p>}
    </>
  );
};

/** Nothing is offered, so that nobody has to know how new it is. */
const SETTLED: ReadonlySet<Update['state']> = new Set(['current', 'updating', 'failed', 'unknown']);

/** Details of the state in addition to its badge. */
export const Remarks = ({ store, update }: { store: Store; update: Update }) => {
  const { text } = store;
  const { state, decision, target, running } = update;
  const say = (at: string): string => store.moments.value.say(Date.parse(at));
  const done = state === 'current' ? store.doneAt(update) : Number.NaN;
  const tried = decision?.state === 'refused' && state !== 'current';
  const published = SETTLED.has(state) ? null : target.publishedAt;
  return (
    <>
      {published !== null && <p class="note">{text.app.published(say(published))}</p>}
      {!Number.isNaN(done) && <p class="note">{text.app.updatedAt(store.moments.value.say(done))}</p>}
      {isWithheld(update) && <p>{text.app.withheldHelp}</p>}
      {state === 'failed' && (
        <p>
          {text.app.failed} {text.app.failedHelp}
        </p>
      )}
      {state === 'halted' && (
        <p>
          {text.app.halted} {text.app.haltedHelp}
        </p>
      )}
      {state === 'unknown' && (
        <p>
          {text.app.unknown} {text.app.unknownHelp}
          {decision?.state === 'open' && ` ${text.app.unknownKept}`}
        </p>
      )}
      {tried && <p class="note">{text.app.lastTry}</p>}
      {update.pod === null && state !== 'updating' && state !== 'unknown' && <p class="note">{text.app.absent}</p>}
      {update.pod !== null && !running.ready && state !== 'updating' && state !== 'failed' && state !== 'unknown' && (
        <p class="note">{text.app.notRunning}</p>
      )}
    </>
  );
};

/** Shown from the start, so that the deadline doesn't come as a surprise. */
export const Deadline = ({ store, update }: { store: Store; update: Update }) => {
  const { text } = store;
  const { deadline, state } = update;
  if (deadline === null || state === 'current' || state === 'updating' || state === 'halted') return null;
  const actsAt = Date.parse(deadline.actsAt);
  const words = actsAt > store.now.value ? text.deadline.text : text.deadline.passed;
  return (
    <p class="deadline">
      <Icon name="shield" />
      <span>{words(store.moments.value.say(actsAt))}</span>
    </p>
  );
};

export const Download = ({ store, update, busy }: { store: Store; update: Update; busy: boolean }) => {
  const { text } = store;
  const { state } = update.image;
  const { running, target } = update.size;
  // Before a download, only the registry knows the size of the new version.
  const size =
    target !== null
      ? text.download.size(saySize(target, text.language))
      : running !== null
        ? text.download.installed(saySize(running, text.language))
        : '';
  const offered = (state === 'unknown' || state === 'failed') && update.pod !== null;
  const possible = offered && store.device.value?.connected === true && store.link.value === 'live';
  return (
    <div class={`download download-${state}`}>
      <p>
        <Icon name={state === 'ready' ? 'check' : state === 'failed' ? 'alert-triangle' : 'download'} />
        <span>
          {text.download[state]}
          {size !== '' && <small>{size}</small>}
        </span>
      </p>
      {possible && (
        <button type="button" class="quiet" aria-disabled={busy} onClick={() => void store.download(update)}>
          {text.download.button}
          <span class="hidden">{text.forApp(update.daemonSet)}</span>
        </button>
      )}
    </div>
  );
};

const Detail = ({ term, children }: { term: string; children: ComponentChildren }) => (
  <div>
    <dt>{term}</dt>
    <dd>{children}</dd>
  </div>
);

/** The agent's own words are English in every language: they are for support calls with the administrator. */
const Said = ({ term, message }: { term: string; message: string | undefined }) =>
  message ? (
    <Detail term={term}>
      <span lang="en">{message}</span>
    </Detail>
  ) : null;

export const Details = ({ store, update }: { store: Store; update: Update }) => {
  const { detail } = store.text.app;
  const { running, target, state, decision } = update;
  const images = compareImages(running.images, target.images);
  const full = (container: string, list: Update['target']['images']): string =>
    list?.find((each) => each.container === container)?.image ?? '–';
  return (
    <details>
      <summary>
        {store.text.app.details}
        <span class="hidden">{store.text.forApp(update.daemonSet)}</span>
      </summary>
      <dl>
        {images.map(({ container }) => (
          <Detail key={container} term={container}>
            {full(container, running.images)}
            {state !== 'current' && <br />}
            {state !== 'current' && `→ ${full(container, target.images)}`}
          </Detail>
        ))}
        <Detail term={detail.namespace}>{update.namespace}</Detail>
        <Detail term={detail.pod}>{update.pod ?? '–'}</Detail>
        <Detail term={detail.revision}>
          {running.revision}
          {target.revision !== null && state !== 'current' && ` → ${target.revision}`}
        </Detail>
        <Said term={detail.reason} message={`${update.reason}: ${update.message}`} />
        {state !== 'current' && <Said term={detail.download} message={update.image.message} />}
        {decision?.state === 'refused' && <Said term={detail.lastTry} message={decision.result} />}
      </dl>
    </details>
  );
};
