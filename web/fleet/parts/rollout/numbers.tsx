import type { ComponentChildren } from 'preact';
import { text } from '../../text/index.ts';
import { type RolloutHead, rolloutStates } from '../../types.ts';
import { until } from '../../view/ago.ts';
import { localTime } from '../../view/local-time.ts';
import { PhaseBar } from '../phase-bar.tsx';

const Figure = ({
  title,
  value,
  children,
  tone = '',
}: {
  title: string;
  value: string;
  children: ComponentChildren;
  tone?: string;
}) => (
  <div class="card number">
    <p class="soft">{title}</p>
    <p class="line">
      <span class={`value ${tone}`}>{value}</span> <span class="soft">{children}</span>
    </p>
  </div>
);

/** How far it is, what failed, what it may use, how fast it goes, and when it ends. */
export const Numbers = ({ head }: { head: RolloutHead }) => {
  const { phases, online, version, breaker, budget, settings, perMinute, estimatedFinishAt, headline } = head;
  const share = settings.maxSurge ?? settings.maxUnavailable;
  const { word } = rolloutStates[headline.state];
  const left = until(estimatedFinishAt);
  const unknown = headline.state === 'running' ? text.numbers.unknown : word;
  return (
    <section class="numbers" aria-label={text.numbers.title}>
      <div class="card number progress">
        <p class="soft">{text.numbers.progress}</p>
        <PhaseBar phases={phases} />
        <p class="soft">{text.numbers.reached(phases.updated, online, version.to, phases.offline)}</p>
      </div>
      <Figure title={text.numbers.failed} value={String(breaker.failures)} tone={breaker.failures > 0 ? 'bad' : ''}>
        {text.numbers.haltsAt(breaker.haltsAt, breaker.suspects)}
      </Figure>
      <Figure title={text.numbers.budget} value={budget.limit > 0 ? `${budget.inUse} / ${budget.limit}` : '–'}>
        {budget.limit > 0
          ? text.numbers.share(share, phases.failed, budget.inUse)
          : text.numbers.noBudget(head.strategy)}
      </Figure>
      <Figure title={text.numbers.rate} value={perMinute === undefined ? '–' : text.numbers.perMinute(perMinute)}>
        {perMinute !== undefined ? text.numbers.average : left === '' ? unknown : text.numbers.soon}
      </Figure>
      <Figure title={text.numbers.left} value={left === '' ? '–' : left}>
        {left === '' ? unknown : text.numbers.endsAt(localTime(Date.parse(estimatedFinishAt ?? '')))}
      </Figure>
    </section>
  );
};
