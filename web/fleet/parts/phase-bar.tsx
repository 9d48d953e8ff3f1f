import { text } from '../text/index.ts';
import { bySeverity, type RolloutHead } from '../types.ts';

/** The nodes by phase, as one bar, with those that are offline apart. */
export const PhaseBar = ({ phases }: { phases: Readonly<Partial<RolloutHead['phases']>> }) => {
  const parts = bySeverity.toReversed().flatMap((phase) => {
    const count = phases[phase] ?? 0;
    return count > 0 ? [{ phase, count }] : [];
  });
  const said = parts.map(({ phase, count }) => text.bar.nodes(count, phase)).join(', ');
  const offline = parts.filter(({ phase }) => phase === 'offline');
  return (
    <div class="bar" role="img" aria-label={said === '' ? text.bar.none : said} title={said}>
      {[...parts.filter(({ phase }) => phase !== 'offline'), ...offline].map(({ phase, count }) => (
        <span key={phase} class={`fill-${phase}`} style={{ flexGrow: count }} />
      ))}
    </div>
  );
};
