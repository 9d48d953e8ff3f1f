import { useState } from 'preact/hooks';
import { text } from '../text/index.ts';
import type { RolloutHead } from '../types.ts';
import type { Asked } from './command-dialog.tsx';

/** How many nodes: `3` or `10%`. */
const COUNT = '\\d{1,9}%?';

interface Settings {
  maxUnavailable: string;
  partition: string;
}

/** What to plan with, or to set. */
const SettingsForm = ({ ask }: { ask: (request: Asked) => void }) => {
  const [settings, setSettings] = useState<Settings>({ maxUnavailable: '', partition: '' });
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== ''));
  const isEmpty = Object.keys(given).length === 0;
  const field = (name: keyof Settings, title: string, placeholder: string) => (
    <label>
      {title}
      <input
        size={5}
        value={settings[name]}
        pattern={COUNT}
        placeholder={placeholder}
        title={text.actions.count}
        onInput={(event) => setSettings({ ...settings, [name]: event.currentTarget.value })}
      />
    </label>
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        ask({ command: event.submitter?.getAttribute('value') === 'set' ? 'set' : 'plan', ...given });
      }}
    >
      {field('maxUnavailable', text.actions.budget, '10%')}
      {field('partition', text.actions.partition, '0')}
      <button type="submit" value="plan">
        {text.actions.plan}
      </button>
      <button type="submit" value="set" disabled={isEmpty}>
        {text.actions.set}
      </button>
    </form>
  );
};

/** The commands of `kubectl edgeset` for the whole rollout. */
export const Actions = ({ head, ask }: { head: RolloutHead; ask: (request: Asked) => void }) => (
  <div class="actions">
    {head.paused || head.halted ? (
      <button type="button" onClick={() => ask({ command: 'resume' })}>
        {text.actions.resume}
      </button>
    ) : (
      <button type="button" onClick={() => ask({ command: 'pause' })}>
        {text.actions.pause}
      </button>
    )}
    <button type="button" onClick={() => ask({ command: 'undo' })}>
      {text.actions.undo}
    </button>
    <button type="button" onClick={() => ask({ command: 'history' })}>
      {text.actions.history}
    </button>
    <SettingsForm ask={ask} />
  </div>
);
