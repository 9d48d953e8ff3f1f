import { explain, livePod, stalledHolds, summaryText } from '../../../rollout/index.ts';
import { byName, compareNames } from '../../../text/index.ts';
import {
  type Connection,
  countsOf,
  driftNotes,
  formatSeconds,
  holdText,
  managerNotes,
  openStageOf,
  phaseOf,
  presentStages,
  type Reading,
  revisionImages,
  whenHalted,
  wrap,
} from '../../../view/index.ts';
import type { DaemonRolloutStage } from '../../../words/index.ts';
import {
  barLine,
  drawFrame,
  type EventLine,
  type FrameText,
  type Line,
  type NodeState,
  padded,
  piece,
  toText,
  widthOf,
} from '../../fleet/index.ts';
import { createLiveRegion } from '../../live-region.ts';
import type { LiveScreen } from '../../terminal.ts';

const MOST_FAILURES = 5;
const MOST_LINES_PER_NOTE = 3;

/** What is shown instead of a rollout, or besides it. */
export interface PictureContext {
  /** As the user named it: `ds/NAME`. */
  title: string;
  events: readonly EventLine[];
  /** Why the picture may be out of date; empty otherwise. */
  trouble: string;
  now: number;
  edgeset: Connection['edgeset'];
}

/** The time left by the manager's estimate, and since when the rollout runs. */
const timesOf = ({ status, decision }: Reading, now: number): string => {
  const since = (now - Date.parse(status?.startedAt ?? '')) / 1000;
  const left = (Date.parse(status?.estimatedFinishAt ?? '') - now) / 1000;
  if (decision.summary.complete || !(since >= 0)) return '';
  const estimate = left > 0 ? `, about ${formatSeconds(left)} left` : '';
  return `started ${formatSeconds(since)} ago${estimate}`;
};

/** `Rolling out`, or what holds the rollout and what to do about it. */
const stateOf = (reading: Reading, { edgeset }: PictureContext, width: number): Line[] => {
  const { ledger, decision } = reading;
  const { hold, complete } = decision.summary;
  const stalled = hold !== undefined && stalledHolds.has(hold.kind);
  const kind = stalled ? 'bad' : complete ? 'good' : hold ? 'warning' : 'bold';
  const why = hold ? wrap(holdText(hold, reading, edgeset), width).slice(0, MOST_LINES_PER_NOTE) : [];
  return [[piece(summaryText(ledger, decision.summary), kind)], ...why.map((line): Line => [piece(line)])];
};

const headOf = (reading: Reading, context: PictureContext, width: number): Line[] => {
  const { title, now } = context;
  const { view, ledger } = reading;
  const { target } = ledger.state;
  const images = target ? (revisionImages(reading).get(target.hash) ?? []).join(', ') : '';
  const left = [
    piece(`${view.namespace} ${title}`, 'bold'),
    piece(target ? `  ${target.name}${images && ` (${images})`}` : '', 'dim'),
  ];
  const right = [piece(timesOf(reading, now), 'dim')];
  const fits = widthOf(left) + 2 + widthOf(right) <= width;
  const heading = fits ? [[...padded(left, width - widthOf(right)), ...right]] : [left, right];
  return [...heading, ...stateOf(reading, context, width)];
};

const stageBar = (stage: DaemonRolloutStage, width: number, unicode: boolean): Line => {
  const { updated, online } = stage.nodes;
  const text = `  ${updated} of ${online} in ${stage.name}`;
  return barLine({ label: 'stage', value: updated, limit: Math.max(1, online), text, kind: 'good' }, width, unicode);
};

const barsOf = (reading: Reading, width: number, unicode: boolean): Line[] => {
  const { ledger } = reading;
  const stage = openStageOf(presentStages(reading.status, reading.view));
  const { updated } = ledger.tally.phases;
  const { online } = ledger.tally;
  const text = `  ${updated} of ${online} online nodes`;
  return [
    barLine({ label: 'updated', value: updated, limit: Math.max(1, online), text, kind: 'good' }, width, unicode),
    ...(stage ? [stageBar(stage, width, unicode)] : []),
  ];
};

/** Failed nodes and what the breaker makes of them, then what else there is to know. */
const notesOf = (reading: Reading, { trouble, now }: PictureContext, width: number): Line[] => {
  const { ledger, decision, view } = reading;
  const { breaker, hold } = decision.summary;
  const paragraph = (text: string, kind: 'plain' | 'warning' | 'bad'): Line[] =>
    wrap(text, width)
      .slice(0, MOST_LINES_PER_NOTE)
      .map((line): Line => [piece(line, kind)]);
  const failing = [...ledger.failing()].toSorted(byName);
  const more = failing.length - MOST_FAILURES;
  const stage = openStageOf(presentStages(reading.status, reading.view));
  const lines = [
    ...(trouble === '' ? [] : paragraph(trouble, 'warning')),
    ...(stage?.awaits ? paragraph(`Stage ${stage.name} ${stage.awaits.message}.`, 'plain') : []),
    ...(breaker.failures + breaker.suspects > 0 && hold?.kind !== 'halted'
      ? paragraph(
          `Breaker: ${breaker.failures} failed, ${breaker.suspects} suspect; ${whenHalted(decision.summary)}.`,
          'warning',
        )
      : []),
    ...failing
      .slice(0, MOST_FAILURES)
      .flatMap((record) => paragraph(explain(record, view.policy.policy, decision.summary, now).what, 'bad')),
    ...(more > 0 ? paragraph(`${more} more failed.`, 'bad') : []),
    ...driftNotes(reading).flatMap((note) => paragraph(note, 'warning')),
    ...managerNotes(reading).flatMap((note) => paragraph(`Note: ${note}`, 'plain')),
  ];
  return lines.length > 0 ? [[], ...lines] : [];
};

/** The nodes as drawn. Keeps their order: sorting a large fleet for each frame would be most of the work. */
const createNodeStates = () => {
  let names: string[] = [];
  return (reading: Reading): NodeState[] => {
    const { ledger } = reading;
    const images = revisionImages(reading);
    const present = names.every((name) => ledger.get(name)?.status.phase !== undefined);
    if (!present || names.length !== ledger.tally.eligible)
      names = Array.from(ledger.records())
        .filter(({ status }) => status.phase !== undefined)
        .map(({ name }) => name)
        .toSorted(compareNames);
    return names.map((name) => {
      const record = ledger.get(name);
      const revision = (record && livePod(record)?.facts.revision) ?? '';
      return {
        name,
        phase: record && phaseOf(reading, record).phase,
        image: images.get(revision)?.join(', ') || revision,
      };
    });
  };
};

/** The rollout as a picture on a terminal, redrawn in place. */
export const createLivePicture = ({ write, screen, unicode }: LiveScreen) => {
  const region = createLiveRegion(write, screen);
  const nodeStates = createNodeStates();
  const draw = (lines: readonly Line[]): void => region.draw(lines.map((line) => toText(line, true)));
  return {
    draw(reading: Reading, context: PictureContext): void {
      const { columns, rows } = screen();
      const text: FrameText = {
        head: (width) => headOf(reading, context, width),
        bars: (width) => barsOf(reading, width, unicode),
        notes: (width) => notesOf(reading, context, width),
      };
      const snapshot = { ...countsOf(reading), nodes: nodeStates(reading), events: context.events };
      // The last line stays free: the cursor goes there when the picture is left.
      draw(drawFrame(text, snapshot, { columns, rows: rows - 1, unicode }));
    },
    /** There is no rollout to draw. */
    say: (text: string): void => draw(wrap(text, screen().columns - 1).map((line): Line => [piece(line)])),
    /** Leaves the last picture on the screen, and restores the terminal. */
    close: region.leave,
  };
};
