import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { Store } from '../store.ts';
import type { Update } from '../types.ts';

interface Props {
  store: Store;
  update: Update;
  onYes: () => void;
  onNo: () => void;
}

/** Asks for confirmation. The browser's dialog keeps the focus inside, closes on Escape and restores the focus. */
export const Confirm = ({ store, update, onYes, onNo }: Props) => {
  const { confirm } = store.text;
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // Only closing the dialog restores the focus; removing it does not.
    return () => shown?.close();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={`${id}-title`} aria-describedby={`${id}-text`} onClose={onNo}>
      <h4 class="dialog-head" id={`${id}-title`}>
        {confirm.title(update.daemonSet)}
      </h4>
      <p id={`${id}-text`}>{confirm.text}</p>
      <div class="answers">
        <button type="button" class="quiet framed" autofocus onClick={() => dialog.current?.close()}>
          {confirm.no}
        </button>
        <button type="button" class="danger" onClick={onYes}>
          {confirm.yes}
        </button>
      </div>
    </dialog>
  );
};
