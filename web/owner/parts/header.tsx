import { Icon } from '../../icon.tsx';
import type { Store } from '../store.ts';
import { rememberLanguage } from '../text/choice.ts';
import { languages } from '../text/index.ts';

const Connection = ({ store }: { store: Store }) => {
  const { text } = store;
  const device = store.device.value;
  const link = store.link.value;
  if (device === null && link === 'loading') return null;
  const known = device !== null && link === 'live';
  const words = known ? (device.connected ? text.connection.online : text.connection.offline) : text.connection.unknown;
  const tone = known ? (device.connected ? 'good' : 'wait') : 'bad';
  return (
    <p class={`badge connection tone-${tone}`}>
      <Icon name={known && device.connected ? 'cloud' : 'cloud-off'} />
      <span class="hidden">{text.connection.label}: </span>
      {words}
    </p>
  );
};

/** Each language in its own words, for those who can't read the current one. */
const Languages = ({ store }: { store: Store }) => {
  const { text } = store;
  const choose = (language: string): void => {
    const chosen = languages.find((each) => each.language === language);
    if (!chosen) return;
    store.useLanguage(chosen);
    rememberLanguage(language);
  };
  return (
    <label class="language">
      <Icon name="globe" />
      <span class="hidden">{text.chooseLanguage}</span>
      <select value={text.language} onChange={(event) => choose(event.currentTarget.value)}>
        {languages.map(({ language, name }) => (
          <option key={language} value={language} lang={language}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
};

export const Header = ({ store }: { store: Store }) => (
  <header>
    <h1>
      <span class="kicker">{store.text.title}</span>{' '}
      <span class="device" dir="auto">
        {store.device.value?.displayName ?? store.device.value?.node ?? ''}
      </span>
    </h1>
    <div class="header-side">
      <Connection store={store} />
      <Languages store={store} />
    </div>
  </header>
);
