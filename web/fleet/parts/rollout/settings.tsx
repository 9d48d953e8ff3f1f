import { isOld } from '../../store.ts';
import { text } from '../../text/index.ts';
import type { RolloutHead } from '../../types.ts';
import type { Asked } from '../command/command-dialog.tsx';
import { SettingsForm } from '../command/settings-form.tsx';

/** The policy of the rollout, what is risky about it, and how to change it. */
export const Settings = ({ head, ask }: { head: RolloutHead; ask: (request: Asked) => void }) => {
  const { settings, strategy } = head;
  const rows: readonly (readonly [string, string | undefined])[] = [
    [text.settings.strategy, strategy],
    [text.settings.budget, settings.maxUnavailable],
    [text.settings.surge, settings.maxSurge],
    [text.settings.partition, settings.partition],
    [text.settings.threshold, settings.failureThreshold],
    [text.settings.plan, settings.plan],
  ];
  return (
    <section class="card settings" aria-labelledby="settings">
      <h2 id="settings">{text.settings.title}</h2>
      <dl>
        {rows.map(
          ([title, value]) =>
            value !== undefined && (
              <div key={title}>
                <dt>{title}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
      {settings.warnings.map((warning) => (
        <p key={warning} class="wait">
          {warning}
        </p>
      ))}
      <h3>{text.settings.change}</h3>
      <fieldset class="bare" disabled={isOld.value}>
        <SettingsForm head={head} ask={ask} />
      </fieldset>
    </section>
  );
};
