import { shownNow } from '../../clock.ts';
import { isOld } from '../../store.ts';
import { text } from '../../text/index.ts';
import { durationMs, type RolloutHead, resultTones, versionStep } from '../../types.ts';
import { ago, lasted } from '../../view/ago.ts';
import type { Asked } from '../../view/effects.ts';
import { Versions } from '../version.tsx';

type Past = RolloutHead['history'][number];

/** The stages of one rollout, with who let each pass. */
const PastStages = ({ stages }: { stages: NonNullable<Past['stages']> }) => (
  <ol class="past-stages">
    {stages.map(({ name, openedAt, promotedAt, promotion, decisions = [] }) => (
      <li key={name}>
        {name}{' '}
        <span class="soft" title={promotedAt ?? openedAt}>
          {promotedAt ? text.past.passed(ago(promotedAt), promotion ?? '') : text.past.notPassed}
        </span>
        {decisions.map(({ decision, by, at, comment }) => (
          <div key={decision} title={at}>
            {text.past.decided[decision](by)}
            {comment && text.past.comment(comment)}
          </div>
        ))}
      </li>
    ))}
  </ol>
);

const Facts = ({ past }: { past: Past }) => {
  const { startedAt, nodes, failures, changedBy, from, to } = past;
  const took = lasted(durationMs(past, shownNow.value));
  return (
    <ul class="facts">
      {startedAt && <li title={startedAt}>{text.past.started(ago(startedAt))}</li>}
      {took !== '' && <li>{text.past.took(took)}</li>}
      <li>{text.past.nodes(nodes)}</li>
      {failures > 0 && <li class="bad">{text.past.failures(failures)}</li>}
      {changedBy && <li title={changedBy.time}>{text.past.changedBy(changedBy.manager)}</li>}
      <li>{from ? text.past.revisions(from.number, to.number) : text.past.revision(to.number)}</li>
    </ul>
  );
};

const Rollout = ({ past }: { past: Past }) => (
  <li class="card">
    <p class="past-head">
      <span class="soft">{text.past.rollout(past.rollout)}</span>
      <span class={`badge ${resultTones[past.result]}`}>{text.past.results[past.result]}</span>
    </p>
    <Versions version={versionStep(past.from?.images, past.to.images)} />
    <Facts past={past} />
    {past.stages && <PastStages stages={past.stages} />}
  </li>
);

const Revisions = ({ head, ask }: { head: RolloutHead; ask: (request: Asked) => void }) => (
  <ul class="revisions" aria-label={text.past.revisionsTitle}>
    {head.revisions.map(({ hash, number, images }) => (
      <li key={hash} class="card" aria-current={hash === head.target ? 'true' : undefined}>
        <p class="past-head">
          <strong>{text.past.revision(number)}</strong>
          <code class="hash">{hash}</code>
          {hash === head.target ? (
            <span class="badge idle">{text.past.target}</span>
          ) : (
            <button type="button" disabled={isOld.value} onClick={() => ask({ command: 'undo', revision: number })}>
              {text.past.undoTo(number)}
            </button>
          )}
        </p>
        <p class="images">{images.join(', ')}</p>
      </li>
    ))}
  </ul>
);

/** The last rollouts, newest first, and the revisions that are kept. */
export const PastRollouts = ({ head, ask }: { head: RolloutHead; ask: (request: Asked) => void }) => (
  <div class="history">
    <section>
      <h2>{text.past.title}</h2>
      {head.history.length === 0 && <p class="soft">{text.past.none}</p>}
      <ol class="past" aria-label={text.past.title}>
        {head.history.map((past) => (
          <Rollout key={past.rollout} past={past} />
        ))}
      </ol>
    </section>
    <section>
      <h2>{text.past.revisionsTitle}</h2>
      <Revisions head={head} ask={ask} />
    </section>
  </div>
);
