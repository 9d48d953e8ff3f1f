import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from '../../icon.tsx';
import type { Store } from '../store.ts';
import { Administrator } from './administrator.tsx';

const Banner = (props: { tone: string; icon: IconName; title: string; children: ComponentChildren }) => (
  <div class={`banner tone-${props.tone}`}>
    <Icon name={props.icon} />
    <div>
      <p class="banner-title">{props.title}</p>
      {props.children}
    </div>
  </div>
);

const Silent = ({ store }: { store: Store }) => {
  const { text } = store;
  const since = store.silentSince.value;
  return (
    <Banner tone="bad" icon="alert-triangle" title={text.agent.silentTitle}>
      <p>{since === null ? text.agent.silentNever : text.agent.silentSince(store.moments.value.say(since))}</p>
      <p>{text.agent.silentHelp}</p>
      <Administrator store={store} />
    </Banner>
  );
};

const Offline = ({ store, since }: { store: Store; since: string }) => {
  const { text } = store;
  return (
    <Banner tone="wait" icon="cloud-off" title={text.connection.offlineTitle}>
      <p>{text.connection.offlineSince(store.moments.value.say(Date.parse(since)))}</p>
      <p>{text.connection.offlineWaits}</p>
    </Banner>
  );
};

/** The agent's own words, which are English and for somebody else. */
const Cause = ({ store, message }: { store: Store; message: string }) => (
  <p class="note">
    {store.text.disk.cause} <span lang="en">{message}</span>
  </p>
);

/** What the owner should know before deciding. Screen readers announce it when it appears. */
export const Banners = ({ store }: { store: Store }) => {
  const { text } = store;
  const device = store.device.value;
  const link = store.link.value;
  return (
    <div role="status">
      {link === 'forbidden' && (
        <Banner tone="bad" icon="shield" title={text.agent.forbiddenTitle}>
          <p>{text.agent.forbidden}</p>
          <Administrator store={store} />
        </Banner>
      )}
      {link === 'silent' && <Silent store={store} />}
      {link === 'live' && device !== null && !device.connected && <Offline store={store} since={device.since} />}
      {link === 'live' && device !== null && device.disk.trouble !== null && (
        <Banner tone="bad" icon="alert-triangle" title={text.disk.troubleTitle}>
          <p>{text.disk.trouble}</p>
          <Administrator store={store} />
          <Cause store={store} message={device.disk.trouble} />
        </Banner>
      )}
      {link === 'live' && device !== null && device.disk.damage !== null && (
        <Banner tone="wait" icon="alert-triangle" title={text.disk.damageTitle}>
          <p>{text.disk.damage}</p>
          <Cause store={store} message={device.disk.damage} />
        </Banner>
      )}
      {link === 'live' && device?.safe.configured === true && device.safe.safe === false && (
        <Banner tone="wait" icon="shield" title={text.safe.title}>
          {device.safe.message !== '' && <p>{text.safe.text(device.safe.message)}</p>}
          <p>{text.safe.note}</p>
        </Banner>
      )}
    </div>
  );
};
