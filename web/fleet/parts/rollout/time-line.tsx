import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { countedNow } from '../../clock.ts';
import { marks, moments } from '../../store.ts';
import { text } from '../../text/index.ts';
import { phaseStyles, type RolloutHead, rolloutKey } from '../../types.ts';
import { isAtRest, type Mark, type Picture, pictureOf } from '../../view/follow.ts';
import { fullTime } from '../../view/local-time.ts';
import { type Moment, type OnlinePhase, onlineOf, stacked } from '../../view/moments.ts';
import { createPlot } from '../../view/plot.ts';

const DRAW_MS = 1_000;
/** The axis of a rollout that runs grows in steps that can be seen. */
const STEPS = 600;
const dark = matchMedia('(prefers-color-scheme: dark)');

const clock = new Intl.DateTimeFormat(text.language, { timeStyle: 'medium', hourCycle: 'h23' });
const percent = new Intl.NumberFormat(text.language, { style: 'percent', maximumFractionDigits: 1 });

const glyphs: Readonly<Record<Mark['kind'], string>> = {
  stage: 'M3 9 V1.5 L8 3.5 L3 5.5',
  approval: 'M1.5 5.5 L4 8 L8.5 2',
  pause: 'M3.5 2 V8 M6.5 2 V8',
  resume: 'M3 2 L8 5 L3 8 Z',
  halt: 'M2 2 L8 8 M8 2 L2 8',
  complete: 'M1.5 5.5 L4 8 L8.5 2',
};

const Glyph = ({ kind }: Pick<Mark, 'kind'>) => (
  <span class={`mark-glyph ${kind}`}>
    <svg viewBox="0 0 10 10" aria-hidden="true">
      <path d={glyphs[kind]} />
    </svg>
  </span>
);

const share = (moment: Moment, phase: OnlinePhase): string =>
  percent.format(moment.nodes[phase] / Math.max(1, onlineOf(moment)));

/** As the areas of the plot are filled: see view/patterns.ts. */
const fills: Partial<Record<OnlinePhase, readonly [fill: string, path: string, stroke: string]>> = {
  held: ['--outdated', 'M-1 6 L6 -1 M-1 11 L11 -1 M4 11 L11 4', '--held-line'],
  settling: ['--surface', 'M2.5 2.5 h0.01 M7.5 2.5 h0.01 M5 5 h0.01 M2.5 7.5 h0.01 M7.5 7.5 h0.01', '--settling'],
};

const Swatch = ({ phase }: { phase: OnlinePhase }) => {
  const [fill, path, stroke] = fills[phase] ?? [`--${phase}`];
  return (
    <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
      <rect width="10" height="10" fill={`var(${fill})`} />
      <path d={path ?? phaseStyles[phase].path} stroke={`var(${stroke ?? `--on-${phase}`})`} />
    </svg>
  );
};

const Key = ({ kind, children }: { kind: string; children: ComponentChildren }) => (
  <span>
    <span class={`key ${kind}`} /> {children}
  </span>
);

/** What the plot shows: anew with each change and as time passes, but not more often than people can look. */
const usePicture = (head: RolloutHead): Picture | undefined => {
  const draw = (): Picture | undefined => pictureOf(moments.peek(), marks.peek(), head, countedNow());
  const latest = useRef(draw);
  latest.current = draw;
  const [picture, setPicture] = useState(draw);
  useEffect(() => {
    let drawn = moments.peek();
    setPicture(latest.current());
    const timer = setInterval(() => {
      const next = latest.current();
      const isNews = drawn !== moments.peek();
      drawn = moments.peek();
      setPicture((shown) => {
        if (!next || !shown || isNews || next.marks.length !== shown.marks.length) return next;
        return Math.abs(next.to - shown.to) * STEPS >= next.to - next.from ? next : shown;
      });
    }, DRAW_MS);
    return () => clearInterval(timer);
  }, [rolloutKey(head), head.startedAt]);
  return picture;
};

const useDark = (): boolean => {
  const [isDark, setDark] = useState(dark.matches);
  useEffect(() => {
    const change = (): void => setDark(dark.matches);
    dark.addEventListener('change', change);
    return () => dark.removeEventListener('change', change);
  }, []);
  return isDark;
};

/** Over the plot: what happened when, and where nobody has looked. */
const Marks = ({ moments: all, marks: shown, from, to }: Picture) => (
  <div class="marks" aria-hidden="true">
    {all
      .filter(({ recorded }, index) => recorded && !all[index - 1]?.recorded)
      .slice(0, 1)
      .map(({ at }) => (
        <span key="recorded" class="recorded" style={{ left: `${(100 * (at - from)) / (to - from)}%` }}>
          {text.timeLine.recorded}
        </span>
      ))}
    {shown.map(({ at, kind, what, time }) => (
      <span
        key={`${at} ${kind} ${what}`}
        class={`mark ${kind}`}
        title={`${clock.format(time)} ${what}`}
        style={{ left: `${(100 * (time - from)) / (to - from)}%` }}
      >
        <Glyph kind={kind} />
      </span>
    ))}
  </div>
);

const summaryOf = ({ moments: all, from }: Picture, phases: readonly OnlinePhase[]): string => {
  const [first] = all;
  const last = all.at(-1);
  if (!first || !last) return '';
  const changes = phases.map((phase) => text.timeLine.from(phase, share(first, phase), share(last, phase)));
  return text.timeLine.summary(clock.format(from), clock.format(last.at), changes, last.inUse, last.limit);
};

const Drawn = ({ picture, isOver }: { picture: Picture; isOver: boolean }) => {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<ReturnType<typeof createPlot>>(undefined);
  const [at, setAt] = useState<number | undefined>();
  const isDark = useDark();
  const current = useRef(picture);
  current.current = picture;
  const { moments: all } = picture;
  const hasBudget = all.some(({ limit }) => limit > 0);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const made = createPlot({ box: element, hasBudget, picture: () => current.current, pointed: setAt });
    plot.current = made;
    const observer = new ResizeObserver(() => made.resize());
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current = undefined;
      made.remove();
    };
  }, [hasBudget, isDark]);
  useLayoutEffect(() => plot.current?.draw(), [picture, hasBudget, isDark]);

  const last = all.at(-1);
  const shown = (at === undefined ? undefined : all.findLast((moment) => moment.at <= at)) ?? last;
  if (!shown) return null;
  const phases = stacked.filter((phase) => all.some(({ nodes }) => nodes[phase] > 0));
  return (
    <figure class="time-line">
      <div class="plots">
        <div ref={box} role="img" aria-label={summaryOf(picture, phases)} />
        <Marks {...picture} />
      </div>
      <figcaption>
        <span class="at">{at === undefined ? (isOver ? text.timeLine.end : text.timeLine.now) : clock.format(at)}</span>
        {phases.map((phase) => (
          <span key={phase}>
            <Swatch phase={phase} /> {text.timeLine.phase(shown.nodes[phase], phase, share(shown, phase))}
          </span>
        ))}
        {hasBudget && <Key kind="slots">{text.timeLine.slots(shown.inUse, shown.limit)}</Key>}
        {hasBudget && <Key kind="limit">{text.timeLine.limit}</Key>}
        {all.some(({ recorded }) => recorded) && <Key kind="recorded">{text.timeLine.recorded}</Key>}
      </figcaption>
      {picture.marks.length > 0 && (
        <ol class="mark-list" aria-label={text.timeLine.marks}>
          {picture.marks.map(({ at: when, kind, what, time }) => (
            <li key={`${when} ${kind} ${what}`}>
              <Glyph kind={kind} />{' '}
              <time dateTime={when} title={fullTime(when)}>
                {clock.format(time)}
              </time>{' '}
              {what}
            </li>
          ))}
        </ol>
      )}
    </figure>
  );
};

/** The online nodes by phase since the rollout began, and the budget below. */
export const TimeLine = ({ head }: { head: RolloutHead }) => {
  const picture = usePicture(head);
  return picture ? <Drawn picture={picture} isOver={isAtRest(head)} /> : null;
};
