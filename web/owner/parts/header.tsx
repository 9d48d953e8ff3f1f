import type { Store } from '../store.ts';
import { Icon } from './icon.tsx';

const Connection = ({ store }: { store: Store }) => {
  const { text } = store;
  const device = store.device.value;
  const link = store.link.value;
  if (device === null && link === 'loading') return null;
  const known = device !== null && link === 'live';
  const words = known ? (device.connected ? text.connection.online : text.connection.offline) : text.connection.unknown;
  const tone = known ? (device.connected ? 'good' : 'wait') : 'bad';
  return (
    <p class={`connection tone-${tone}`}>
      <Icon name={known && device.connected ? 'cloud' : 'cloudOff'} />
      <span class="hidden">{text.connection.label}: </span>
      {words}
    </p>
  );
};

export const Header = ({ store }: { store: Store }) => (
  <header>
    <h1>
      <span class="kicker">{store.text.title}</span> <span class="device">{store.device.value?.node ?? ''}</span>
    </h1>
    <Connection store={store} />
  </header>
);
