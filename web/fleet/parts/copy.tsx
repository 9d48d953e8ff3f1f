import { useEffect, useState } from 'preact/hooks';
import { text } from '../text/index.ts';

const SHOWN_MS = 2_000;

/** Puts the text into the clipboard, and says so. */
export const Copy = ({ what }: { what: string }) => {
  const [said, setSaid] = useState('');
  useEffect(() => {
    if (said === '') return undefined;
    const timer = setTimeout(() => setSaid(''), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (): Promise<void> => {
    // Browsers have no clipboard on a page that came without TLS.
    const copied = await Promise.resolve(navigator.clipboard?.writeText(what)).then(
      () => navigator.clipboard !== undefined,
      () => false,
    );
    setSaid(copied ? text.copy.done : text.copy.failed);
  };
  return (
    <button type="button" class="quiet copy" onClick={() => void copy()}>
      {said === '' ? text.copy.copy : said}
    </button>
  );
};

/** A command as a user would type it, to be copied. */
export const Typed = ({ command }: { command: string }) => (
  <p class="typed">
    <code>{command}</code> <Copy what={command} />
  </p>
);
