import { go, route } from '../../route.ts';
import { text } from '../../text/index.ts';
import type { NodeCell, RolloutHead } from '../../types.ts';

type Step = Exclude<NodeCell[7], ''>;

/** How far the owners are, as a second legend and filter. It says what the cluster knows: what owners put off stays on their devices. */
export const Owners = ({ owners }: { owners: NonNullable<RolloutHead['owners']> }) => (
  <div class="legend owners" role="group" aria-label={text.owners.title} title={text.owners.unknown}>
    <span class="soft">{text.owners.title}</span>
    {(Object.entries(owners) as [Step, number][]).map(([step, count]) => {
      const isShown = route.value.owner === step;
      return (
        <button
          key={step}
          type="button"
          class="chip"
          aria-pressed={isShown}
          disabled={count === 0 && !isShown}
          onClick={() => go({ owner: isShown ? '' : step })}
        >
          {text.owners.steps[step](count)}
        </button>
      );
    })}
  </div>
);
