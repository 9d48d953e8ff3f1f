import { Icon } from '../../icon.tsx';
import { text } from '../text/index.ts';
import { isAsking, isFinding } from './keys.ts';

const keyOfPalette = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘ K' : 'Ctrl K';

/** What the keys open, for those who have a pointer. */
export const KeyButtons = () => (
  <span class="key-buttons">
    <button
      type="button"
      class="find"
      aria-keyshortcuts="Control+K Meta+K"
      onClick={() => {
        isFinding.value = true;
      }}
    >
      <Icon name="search" />
      <span class="words">{text.palette.open}</span> <kbd aria-hidden="true">{keyOfPalette}</kbd>
    </button>
    <button
      type="button"
      class="help"
      aria-label={text.keys.title}
      onClick={() => {
        isAsking.value = true;
      }}
    >
      ?
    </button>
  </span>
);
