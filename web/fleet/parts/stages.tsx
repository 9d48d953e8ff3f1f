import { useEffect, useState } from 'preact/hooks';
import { text } from '../text/index.ts';
import type { RolloutHead, StageStep } from '../types.ts';
import { ago } from '../view/ago.ts';
import { progressOf, soakLeft } from '../view/stages.ts';
import type { Asked } from './command-dialog.tsx';

const TICK_MS = 1_000;

const marks: Readonly<Record<StageStep['state'], string>> = {
  Passed: 'M1 5.5 L4 8.5 L9 1.5',
  Open: 'M2 1 L8.5 5 L2 9 Z',
  Closed: 'M1 5 H9',
};

const sentence = (said: string): string => `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;

/** Counts down without being read aloud each time. */
const SoakLeft = ({ step }: { step: StageStep }) => {
  const [, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTicks((ticks) => ticks + 1), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return <span role="timer">{soakLeft(step)}</span>;
};

const State = ({ step: { state } }: { step: StageStep }) => (
  <span class="stage-state">
    <svg viewBox="0 0 10 10" aria-hidden="true">
      <path d={marks[state]} />
    </svg>{' '}
    {text.stages.states[state]}
  </span>
);

/** What the open stage waits for. */
const Awaits = ({ step }: { step: StageStep }) => (
  <>
    {sentence(step.awaits)} {step.soakUntil !== undefined && <SoakLeft step={step} />}
  </>
);

/** Above the cells of a stage. */
export const StageLine = ({ step }: { step: StageStep }) => (
  <p class="stage-line">
    <State step={step} />: <span>{progressOf(step)}.</span>{' '}
    {step.awaits !== '' && (
      <span>
        <Awaits step={step} />
      </span>
    )}
  </p>
);

const Checks = ({ step: { name, checks } }: { step: StageStep }) => (
  <ul aria-label={text.stages.checks(name)}>
    {checks.map(({ name: check, state, message }) => (
      <li key={check}>
        {check}: <strong class={state === 'Failing' || state === 'Failed' ? 'bad' : ''}>{state}</strong>
        {message !== '' && <span class="soft"> {message}</span>}
      </li>
    ))}
  </ul>
);

const Decisions = ({ step: { name, decisions }, ask }: { step: StageStep; ask: (request: Asked) => void }) => (
  <div class="answers">
    {decisions.map((command) => (
      <button
        key={command}
        type="button"
        class={command === 'approve' ? 'main' : ''}
        onClick={() => ask({ command, stage: name })}
      >
        {text.stages[command](name)}
      </button>
    ))}
  </div>
);

const Step = ({ step, ask }: { step: StageStep; ask: (request: Asked) => void }) => {
  const { name, state, nodes, awaits, way, promotedAt, checks, decisions } = step;
  return (
    <li class={state.toLowerCase()} aria-current={state === 'Open' ? 'step' : undefined}>
      <p class="step-head">
        <strong>{name}</strong>
        <State step={step} />
      </p>
      <progress aria-label={text.stages.bar(name)} value={nodes.updated} max={Math.max(1, nodes.online)} />
      <p>{progressOf(step)}</p>
      {awaits !== '' && (
        <p>
          <Awaits step={step} />
        </p>
      )}
      {checks.length > 0 && <Checks step={step} />}
      {state === 'Passed' && (
        <p class="soft" title={promotedAt}>
          {text.stages.passed(ago(promotedAt))}
          {way !== '' && `, ${way}`}
        </p>
      )}
      {decisions.length > 0 && <Decisions step={step} ask={ask} />}
    </li>
  );
};

/** The stages of the rollout plan, in their order. */
export const Stages = ({
  plan,
  steps,
  ask,
}: NonNullable<RolloutHead['stages']> & { ask: (request: Asked) => void }) => (
  <section class="pipeline" aria-label={text.stages.title}>
    <h2>
      {text.stages.title} <span class="soft">{text.stages.ofPlan(plan)}</span>
    </h2>
    <ol>
      {steps.map((step) => (
        <Step key={step.name} step={step} ask={ask} />
      ))}
    </ol>
  </section>
);
