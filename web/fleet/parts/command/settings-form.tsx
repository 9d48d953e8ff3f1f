import { useState } from 'preact/hooks';
import { text } from '../../text/index.ts';
import type { RolloutHead } from '../../types.ts';
import type { Asked } from '../../view/effects.ts';

/** How many nodes: `3` or `10%`. */
const COUNT = '\\d{1,9}%?';

interface Settings {
  maxUnavailable: string;
  partition: string;
}

/** What the budget is in nodes now. */
const budgetMeans = ({ strategy, settings, budget }: RolloutHead): string => {
  if (strategy === 'ota' && budget.limit === 0) return text.actions.ownersDecide;
  const nodes = text.actions.nodes(budget.limit);
  return settings.maxSurge === undefined ? nodes : text.actions.surges(settings.maxSurge, nodes);
};

/** The settings as they are, to plan with others, or to set them. */
export const SettingsForm = ({ head, ask }: { head: RolloutHead; ask: (request: Asked) => void }) => {
  const { settings } = head;
  const [typed, setTyped] = useState<Partial<Settings>>({});
  const given = Object.fromEntries(
    Object.entries(typed).filter(([name, value]) => value !== '' && value !== settings[name as keyof Settings]),
  );
  const isSame = Object.keys(given).length === 0;
  // What is typed means something else.
  const budget = given['maxUnavailable'] === undefined ? budgetMeans(head) : '';
  const field = (name: keyof Settings, title: string, means: string) => (
    <label>
      <span class="field">{title}</span>
      <input
        size={6}
        value={typed[name] ?? settings[name]}
        pattern={COUNT}
        required
        title={text.actions.count}
        aria-describedby={`${name}-means`}
        onInput={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
      />
      <span id={`${name}-means`} class="soft">
        {means}
      </span>
    </label>
  );
  return (
    <form
      class="settings"
      onSubmit={(event) => {
        event.preventDefault();
        ask({ command: event.submitter?.getAttribute('value') === 'set' ? 'set' : 'plan', ...given });
      }}
    >
      {field('maxUnavailable', text.actions.budget, budget)}
      {field('partition', text.actions.partition, text.actions.partitionMeans)}
      <div class="answers">
        <button type="submit" value="plan">
          {text.actions.plan}
        </button>
        <button type="submit" value="set" class="main" disabled={isSame}>
          {text.actions.set}
        </button>
      </div>
    </form>
  );
};
