import { useEffect, useState } from 'preact/hooks';
import { isOld } from '../../store.ts';
import { text } from '../../text/index.ts';
import type { RolloutHead, StageStep } from '../../types.ts';
import { ago } from '../../view/ago.ts';
import { fullTime, localTime, withLocalTimes } from '../../view/local-time.ts';
import { dotsOf, progressOf, type StageCounts, sizeOf, soakLeft, soakOf } from '../../view/stages.ts';
import type { Asked } from '../command/command-dialog.tsx';

const TICK_MS = 1_000;

const marks: Readonly<Record<StageStep['state'], string>> = {
  Passed: 'M1 5.5 L4 8.5 L9 1.5',
  Open: 'M2 1 L8.5 5 L2 9 Z',
  Closed: 'M1 5 H9',
};

const sentence = (said: string): string => `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;

const useTicks = (): void => {
  const [, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTicks((ticks) => ticks + 1), TICK_MS);
    return () => clearInterval(timer);
  }, []);
};

/** Counts down without being read aloud each time. */
const SoakLeft = ({ step }: { step: StageStep }) => {
  useTicks();
  return <span role="timer">{soakLeft(step)}</span>;
};

const Mark = ({ state }: Pick<StageStep, 'state'>) => (
  <svg viewBox="0 0 10 10" aria-hidden="true">
    <path d={marks[state]} />
  </svg>
);

/** What the open stage waits for. */
const awaits = ({ awaits: said }: StageStep): string => sentence(withLocalTimes(said));

/** Above the cells of a stage. */
export const StageLine = ({ step }: { step: StageStep }) => (
  <p class="stage-line">
    <span class="stage-state">
      <Mark state={step.state} /> {text.stages.states[step.state]}
    </span>
    : <span>{progressOf(step)}.</span>{' '}
    {step.awaits !== '' && (
      <span>
        {awaits(step)} {step.soakUntil !== undefined && <SoakLeft step={step} />}
      </span>
    )}
  </p>
);

/** Its circumference is 100, so that a share of it is a percentage. */
const RADIUS = 15.9155;

/** The soak as a ring that gets shorter. */
const Soak = ({ step }: { step: StageStep }) => {
  useTicks();
  const soak = soakOf(step);
  if (!soak) return null;
  return (
    <p class="soak">
      <svg viewBox="0 0 36 36" aria-hidden="true">
        <circle cx="18" cy="18" r={RADIUS} />
        <circle class="left" cx="18" cy="18" r={RADIUS} stroke-dasharray={`${soak.share * 100} 100`} />
      </svg>
      <span role="timer" title={fullTime(step.soakUntil)}>
        {soak.left}
      </span>
    </p>
  );
};

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

const buttonStyles = { approve: 'main', promote: 'danger' } as const;

export const StageDecisions = ({
  step: { name, decisions },
  ask,
}: {
  step: StageStep;
  ask: (request: Asked) => void;
}) => (
  <div class="answers">
    {decisions.map((command) => (
      <button
        key={command}
        type="button"
        class={buttonStyles[command]}
        disabled={isOld.value}
        onClick={() => ask({ command, stage: name })}
      >
        {text.stages[command](name)}
      </button>
    ))}
  </div>
);

/** The open stage in full. */
const OpenStage = ({ step, ask }: { step: StageStep; ask: (request: Asked) => void }) => (
  <div class="step-open">
    <progress aria-label={text.stages.bar(step.name)} value={step.nodes.updated} max={Math.max(1, step.nodes.online)} />
    <p>{progressOf(step)}</p>
    {step.awaits !== '' && <p>{awaits(step)}</p>}
    <Soak step={step} />
    {step.checks.length > 0 && <Checks step={step} />}
    {step.decisions.length > 0 && <StageDecisions step={step} ask={ask} />}
  </div>
);

const Step = ({ step, ask }: { step: StageStep; ask: (request: Asked) => void }) => {
  const { name, state, way, promotedAt } = step;
  return (
    <li class={state.toLowerCase()} aria-current={state === 'Open' ? 'step' : undefined}>
      <p class="step-head">
        <span class="step-mark">
          <Mark state={state} />
        </span>
        <strong>{name}</strong> {state !== 'Passed' && <span class="soft">{text.stages.states[state]}</span>}
      </p>
      {state === 'Open' && <OpenStage step={step} ask={ask} />}
      {state === 'Closed' && <p class="soft">{sizeOf(step)}</p>}
      {state === 'Passed' && (
        <>
          <p class="soft">
            {/* A passed stage of an older manager has no time. */}
            <time dateTime={promotedAt ?? ''} title={fullTime(promotedAt)}>
              {text.stages.passed(promotedAt ? `${localTime(Date.parse(promotedAt))}, ${ago(promotedAt)}` : '')}
            </time>
            {way !== '' && `, ${way}`}
          </p>
          <p class="soft">{progressOf(step)}</p>
        </>
      )}
    </li>
  );
};

/** The stages of the rollout plan as steps, in their order: the open one is expanded. */
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

/** The stages in one line. Of a rollout in a list, only their counts and the open one are known. */
export const StageDots = ({ stages }: { stages: readonly StageStep[] | StageCounts }) => {
  const dots = dotsOf(stages);
  if ('total' in stages)
    return (
      <span
        class="stage-dots"
        role="img"
        aria-label={text.stages.counts(stages.passed, stages.total, stages.open)}
        title={text.stages.counts(stages.passed, stages.total, stages.open)}
      >
        {dots.map(({ state }, index) => (
          <span key={index} class={state.toLowerCase()}>
            <span class="step-mark">
              <Mark state={state} />
            </span>
          </span>
        ))}
        {stages.open !== '' && <span class="open">{stages.open}</span>}
      </span>
    );
  return (
    <ol class="stage-dots" aria-label={text.stages.line}>
      {dots.map(({ name, state, progress }) => (
        <li
          key={name}
          class={state.toLowerCase()}
          aria-current={state === 'Open' ? 'step' : undefined}
          title={text.stages.dot(name, text.stages.states[state], progress)}
        >
          <span class="step-mark" role="img" aria-label={text.stages.states[state]}>
            <Mark state={state} />
          </span>
          {name} {progress}
        </li>
      ))}
    </ol>
  );
};
