import { text } from '../text/index.ts';
import { bySeverity, type NodeCell } from '../types.ts';

export interface Group {
  name: string;
  nodes: readonly NodeCell[];
  phases: Readonly<Record<Phase, number>>;
}

type Phase = NodeCell[1];

const countPhases = (nodes: readonly NodeCell[]): Group['phases'] => {
  const phases = Object.fromEntries(bySeverity.map((phase) => [phase, 0])) as Record<Phase, number>;
  for (const [, phase] of nodes) phases[phase] += 1;
  return phases;
};

export const { compare } = new Intl.Collator(text.language, { numeric: true });

/** Nodes by group. The groups that are named in `first` are in its order, also those without nodes; the others come after, by name. */
export const groupCells = (
  cells: Iterable<NodeCell>,
  groupOf: (cell: NodeCell) => string,
  first: readonly string[] = [],
): Group[] => {
  const by = new Map<string, NodeCell[]>(first.map((name) => [name, []]));
  for (const cell of cells) {
    const name = groupOf(cell);
    const its = by.get(name);
    if (its) its.push(cell);
    else by.set(name, [cell]);
  }
  const all = Array.from(by, ([name, nodes]) => ({ name, nodes, phases: countPhases(nodes) }));
  return [...all.slice(0, first.length), ...all.slice(first.length).toSorted((a, b) => compare(a.name, b.name))];
};

/** Where nodes don't work, by how many. */
export const worstFirst = (a: Group, b: Group): number =>
  b.phases.failed - a.phases.failed || b.phases.broken - a.phases.broken || compare(a.name, b.name);
