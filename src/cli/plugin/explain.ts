import { objectName } from '../../process/index.ts';
import type { Explanation } from '../../rollout/index.ts';
import { byName } from '../../text/index.ts';
import {
  type ConnectionFlags,
  explainNode,
  explainRecord,
  explainRollout,
  joinSentences,
  managerNotes,
  noteLine,
  notesOf,
  readName,
  readRolloutOf,
  structured,
  type TonedLine,
  toneOfPhase,
  withCluster,
  withManager,
  withRefusedPods,
} from '../../view/index.ts';
import type { Phase } from '../../words/index.ts';
import type { Io } from '../io.ts';
import { printLines } from '../terminal.ts';

export interface ExplainFlags extends ConnectionFlags {
  node?: string;
  /** Only the nodes in these phases. */
  phase?: readonly Phase[];
  /** All nodes and all causes, however many. */
  all?: boolean;
  output?: 'json' | 'yaml';
}

const when = (time: number | undefined, now: number): string => {
  if (time === undefined) return 'It is re-evaluated when something changes.';
  return `It is re-evaluated in ${Math.max(0, Math.ceil((time - now) / 1000))} s, or when something changes.`;
};

/** Phases in which nothing is expected to happen. */
const settled: ReadonlySet<string> = new Set<Explanation['phase']>(['updated', 'not-eligible']);

const renderNode = (one: Explanation, notes: readonly string[], now: number): TonedLine[] => [
  {
    text: `${one.node}: ${one.phase}${one.cause ? ` (${one.cause})` : ''}`,
    tone: one.phase === 'not-eligible' ? 'dim' : toneOfPhase(one.phase),
  },
  {
    text: joinSentences(one.what, one.remedy, settled.has(one.phase) ? '' : when(one.lookedAtAgain, now)),
    depth: 1,
  },
  ...notes.map(noteLine),
];

/** Whether a node is asked for; one that the DaemonSet does not run on has no phase. */
const isWanted = (phase: Phase | undefined, wanted: readonly Phase[] | undefined): boolean =>
  wanted === undefined || (phase !== undefined && wanted.includes(phase));

/** For scripts, with times as dates. */
const toData = (one: Explanation): object => {
  const { lookedAtAgain, away: _, ...rest } = one;
  return { ...rest, ...(lookedAtAgain !== undefined && { lookedAtAgain: new Date(lookedAtAgain).toISOString() }) };
};

/** Explains the state of nodes from the cluster's objects alone, without the manager. */
export const showExplanation = async (name: string, flags: ExplainFlags, io: Io): Promise<void> => {
  const { node, output, phase, all = false } = flags;
  const named = readName(name);
  if (node !== undefined) objectName('--node', node, 'subdomain');
  await withCluster(flags, io, async (connection) => {
    const read = await withManager(connection, await readRolloutOf(connection, named));
    const reading = await withRefusedPods(connection, read);
    const now = connection.env.clock.now();
    const { ledger, decision } = reading;
    if (node !== undefined) {
      const one = await explainNode(connection, reading, node);
      if (output) io.stdout(structured(toData(one), output));
      else printLines(renderNode(one, managerNotes(reading), now), io);
      return;
    }
    const wanted = [...ledger.records()].filter(({ status }) => isWanted(status.phase, phase));
    if (!output) {
      printLines(explainRollout(reading, wanted, { now, all, phases: phase, edgeset: connection.edgeset }), io);
      return;
    }
    const { hold, complete, budget, usage, breaker } = decision.summary;
    const nodes = wanted
      .toSorted(byName)
      .map((record) => toData(explainRecord(reading, record, now, connection.edgeset)));
    io.stdout(structured({ complete, hold, budget, usage, breaker, notes: notesOf(reading), nodes }, output));
  });
};
