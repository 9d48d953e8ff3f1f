import { clusterNow } from '../clock.ts';
import { text } from '../text/index.ts';
import { changedImages, durationMs, type RolloutHead } from '../types.ts';
import { ago, lasted } from '../view/ago.ts';

const tone: Readonly<Record<string, string>> = { Halted: 'bad', RolledBack: 'bad', InProgress: 'wait' };

type Stages = NonNullable<RolloutHead['history'][number]['stages']>;

/** The stages of one rollout, with who let each pass. */
const PastStages = ({ stages }: { stages: Stages }) => (
  <ol>
    {stages.map(({ name, openedAt, promotedAt, promotion, decisions = [] }) => (
      <li key={name}>
        {name}{' '}
        <span title={promotedAt ?? openedAt}>
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

/** The last rollouts, newest first. */
export const PastRollouts = ({ head: { history } }: { head: RolloutHead }) => (
  <details>
    <summary>{text.past.title}</summary>
    <div class="scroll" tabIndex={0} role="region" aria-label={text.past.table}>
      <table>
        <thead>
          <tr>
            {text.past.columns.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {history.map((past) => (
            <tr key={past.rollout}>
              <th scope="row">{past.rollout}</th>
              <td title={past.startedAt}>{ago(past.startedAt)}</td>
              <td>{past.from ? text.past.revisions(past.from.number, past.to.number) : past.to.number}</td>
              <td class={tone[past.result] ?? ''}>{past.result}</td>
              <td>{past.nodes}</td>
              <td>{past.failures}</td>
              <td>{lasted(durationMs(past, clusterNow()))}</td>
              <td title={past.changedBy?.time}>{past.changedBy?.manager}</td>
              <td>{changedImages(past)}</td>
              <td>{past.stages && <PastStages stages={past.stages} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  </details>
);
