import { useLayoutEffect, useRef } from 'preact/hooks';
import { text } from '../text/index.ts';
import { hasLetters, isAsking, setLetters } from './keys.ts';

const Open = () => {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // Only closing the dialog restores the focus; removing it does not.
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class="key-list"
      aria-labelledby="key-list"
      onClose={() => {
        isAsking.value = false;
      }}
    >
      <h2 id="key-list" class="dialog-head">
        {text.keys.title}
      </h2>
      <dl>
        {text.keys.list.map(({ keys, what }) => (
          <div key={what}>
            <dt>
              {keys.map((key, index) => (
                <>
                  {index > 0 && ' '}
                  <kbd>{key}</kbd>
                </>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label>
        <input
          type="checkbox"
          checked={hasLetters.value}
          onChange={(event) => setLetters(event.currentTarget.checked)}
        />
        {text.keys.letters}
      </label>
      <div class="answers">
        <button type="button" autofocus onClick={() => dialog.current?.close()}>
          {text.keys.close}
        </button>
      </div>
    </dialog>
  );
};

/** What the keys do. */
export const KeyList = () => (isAsking.value ? <Open /> : null);
