import { go, route } from '../../route.ts';
import { text } from '../../text/index.ts';
import { bySeverity, type RolloutHead } from '../../types.ts';
import { PhaseMark } from '../phase-mark.tsx';

type Phase = keyof RolloutHead['phases'];

const Chip = ({ phase, count }: { phase: Phase; count: number }) => {
  const isShown = route.value.phase === phase;
  return (
    <button
      type="button"
      class="phase-chip"
      aria-pressed={isShown}
      disabled={count === 0 && !isShown}
      onClick={() => go({ phase: isShown ? '' : phase })}
    >
      <PhaseMark phase={phase} /> {text.rollout.phase(count, phase)}
    </button>
  );
};

/** The phases with their counts: a legend, and a filter. Those without a node are folded. */
export const Legend = ({ head: { phases } }: { head: RolloutHead }) => {
  const isPresent = (phase: Phase): boolean => phases[phase] > 0 || route.value.phase === phase;
  const empty = bySeverity.filter((phase) => !isPresent(phase));
  return (
    <div class="legend" role="group" aria-label={text.rollout.phases}>
      {bySeverity.filter(isPresent).map((phase) => (
        <Chip key={phase} phase={phase} count={phases[phase]} />
      ))}
      {empty.length > 0 && (
        <details class="none">
          <summary>{text.rollout.without(empty.length)}</summary>
          <ul>
            {empty.map((phase) => (
              <li key={phase}>
                <PhaseMark phase={phase} /> {phase}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
};
