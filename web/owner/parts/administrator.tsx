import { Icon } from '../../icon.tsx';
import type { Store } from '../store.ts';
import { contactOf } from '../view/contact.ts';

const Reach = ({ text }: { text: string }) => {
  const { href } = contactOf(text);
  return href === undefined ? (
    <strong dir="auto">{text}</strong>
  ) : (
    <a class="reach" href={href} target="_blank" rel="noopener noreferrer" dir="auto">
      {text}
    </a>
  );
};

/** How to reach the administrator, where only they can help; nothing if they have not said. */
export const Administrator = ({ store }: { store: Store }) => {
  const administrator = store.device.value?.administrator ?? null;
  if (administrator === null) return null;
  return (
    <p class="administrator">
      <Icon name="phone" />
      <span>
        {store.text.administrator} <Reach text={administrator} />
      </span>
    </p>
  );
};
