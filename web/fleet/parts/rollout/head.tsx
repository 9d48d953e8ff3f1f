import type { ComponentChildren } from 'preact';
import { text } from '../../text/index.ts';
import { type RolloutHead, rolloutStates } from '../../types.ts';
import { ago } from '../../view/ago.ts';
import { Version } from '../version.tsx';

const Badge = ({ head: { headline } }: { head: RolloutHead }) => {
  const { tone, glyph } = rolloutStates[headline.state];
  return (
    <span class={`badge ${tone}`} role="status">
      <span aria-hidden="true">{glyph}</span> {headline.badge}
    </span>
  );
};

/** What changes, and under which revision. */
const Change = ({ head: { version, revision, target } }: { head: RolloutHead }) => (
  <p class="change">
    <strong>
      <Version version={version} />
    </strong>{' '}
    {target !== '' && <span class="soft">{text.head.revision(revision, target)}</span>}
  </p>
);

/** How it ended, or stands still: since when. */
const endOf = ({ headline, finishedAt, stoppedAt }: RolloutHead): string => {
  if (headline.state === 'halted' && stoppedAt) return text.head.halted(ago(stoppedAt));
  if (headline.state === 'paused' && stoppedAt) return text.head.paused(ago(stoppedAt));
  return finishedAt ? text.head.finished(ago(finishedAt)) : '';
};

const Facts = ({ head }: { head: RolloutHead }) => {
  const { changedBy, changeCause, startedAt, settings, strategy, budget } = head;
  const facts = [
    changedBy === undefined ? '' : text.head.changedBy(changedBy),
    changeCause === undefined ? '' : text.head.cause(changeCause),
    startedAt === undefined ? text.head.first : text.head.started(ago(startedAt)),
    endOf(head),
    text.head.strategy(strategy),
    budget.limit > 0 || strategy === 'auto'
      ? text.head.budget(settings.maxSurge ?? settings.maxUnavailable, budget.limit)
      : '',
    settings.plan === undefined ? text.head.noPlan : text.head.plan(settings.plan),
  ];
  return (
    <ul class="facts">
      {facts
        .filter((fact) => fact !== '')
        .map((fact) => (
          <li key={fact}>{fact}</li>
        ))}
    </ul>
  );
};

/** Which rollout this is, what it changes, and where it stands. */
export const Head = ({ head, children }: { head: RolloutHead; children: ComponentChildren }) => (
  <div class="head">
    <div class="name">
      <h1>{head.name}</h1>
      <Badge head={head} />
      <Change head={head} />
    </div>
    {children}
    <Facts head={head} />
  </div>
);
