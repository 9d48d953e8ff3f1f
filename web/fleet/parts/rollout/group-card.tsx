import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { marked } from '../../keys/marked.ts';
import { go, route } from '../../route.ts';
import { text } from '../../text/index.ts';
import type { NodeCell, StageStep } from '../../types.ts';
import { createPainter, gridFor, indexAt } from '../../view/cells.ts';
import type { Group } from '../../view/groups.ts';
import { isWall } from '../../wall/wall.ts';
import type { Asked } from '../command/command-dialog.tsx';
import { PhaseBar } from '../phase-bar.tsx';
import { StageDecisions, StageLine } from './stages.tsx';

interface Pointed {
  index: number;
  /** Of the pointer, in the window. */
  at: { x: number; y: number };
}

interface CellsProps {
  label: string;
  nodes: readonly NodeCell[];
  /** The nodes of all groups. */
  all: number;
}

/** What the pointer is on, beside it. */
const Tip = ({ cell, at }: { cell: NodeCell; at: { x: number; y: number } }) => {
  const [node, phase, cause] = cell;
  const isRight = at.x > innerWidth / 2;
  return (
    <div
      class="tip"
      aria-hidden="true"
      style={{
        top: `${at.y}px`,
        ...(isRight ? { right: `${document.documentElement.clientWidth - at.x}px` } : { left: `${at.x}px` }),
      }}
    >
      {text.fleet.pointed(node, phase, cause)}
    </div>
  );
};

/** A cell for each node. The arrow keys move, Enter opens a node. */
const Cells = ({ label, nodes, all }: CellsProps) => {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [pointed, setPointed] = useState<Pointed | undefined>();
  const grid = gridFor(nodes.length, width, all, isWall.value);
  const painter = useRef<ReturnType<typeof createPainter>>(undefined);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => {
      observer.disconnect();
      painter.current?.stop();
      painter.current = undefined;
    };
  }, []);
  const { node: shown } = route.value;
  const chosen = shown === '' ? -1 : nodes.findIndex(([node]) => node === shown);
  // The pointer first: somebody moves it.
  const here = marked.value === '' ? -1 : nodes.findIndex(([node]) => node === marked.value);
  const index = pointed?.index ?? here;
  useLayoutEffect(() => {
    if (!canvas.current || width === 0) return;
    painter.current ??= createPainter(canvas.current);
    painter.current.paint(nodes, grid, index >= 0 ? index : chosen);
  }, [nodes, grid.size, grid.columns, width, index, chosen]);

  useLayoutEffect(() => {
    if (here >= 0) canvas.current?.focus();
  }, [here]);

  const indexOf = ({ offsetX, offsetY }: MouseEvent): number => indexAt(grid, nodes.length, offsetX, offsetY);
  const open = (which: number): void => {
    const [node] = nodes[which] ?? [];
    if (node !== undefined) go({ node });
  };
  const onKey = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -grid.columns, ArrowDown: grid.columns }[event.key];
    if (event.key === 'Enter') open(index);
    if (by === undefined) return;
    event.preventDefault();
    const next = index < 0 ? 0 : Math.max(0, Math.min(nodes.length - 1, index + by));
    setPointed(undefined);
    marked.value = nodes[next]?.[0] ?? '';
  };
  const cell = nodes[index];
  const said = nodes[here];
  return (
    <div ref={box} class="grid">
      <canvas
        ref={canvas}
        role="application"
        tabIndex={0}
        aria-label={text.fleet.grid(label, nodes.length)}
        style={{ height: `${grid.height}px` }}
        onMouseMove={(event) => setPointed({ index: indexOf(event), at: { x: event.clientX, y: event.clientY } })}
        onMouseLeave={() => setPointed(undefined)}
        onBlur={() => {
          if (here >= 0) marked.value = '';
        }}
        onClick={(event) => open(indexOf(event))}
        onKeyDown={onKey}
      />
      {cell && pointed && <Tip cell={cell} at={pointed.at} />}
      {/* For the keyboard, and for screen readers. */}
      <p class={said ? 'pointed' : 'pointed hidden'} role="status">
        {said ? text.fleet.pointed(said[0], said[1], said[2]) : ''}
      </p>
    </div>
  );
};

interface GroupCardProps {
  group: Group;
  all: number;
  /** The stage whose nodes these are. */
  step?: StageStep | undefined;
  ask: (request: Asked) => void;
}

/** A group of nodes: how far it is, and its cells. */
export const GroupCard = ({ group: { name, nodes, phases }, all, step, ask }: GroupCardProps) => {
  const label = name === '' ? text.fleet.nodes : name;
  return (
    <section class={phases.failed > 0 ? 'group card alert' : 'group card'} aria-label={label}>
      <div class="group-head">
        <h2 title={label}>{label}</h2>
        <span class="soft" title={text.fleet.updated(phases.updated, nodes.length)}>
          {phases.failed > 0 && <strong class="bad">{text.fleet.failed(phases.failed)}</strong>}
          {phases.updated} / {nodes.length}
        </span>
      </div>
      {nodes.length > 0 && <PhaseBar phases={phases} />}
      {step && <StageLine step={step} />}
      {step && <StageDecisions step={step} ask={ask} />}
      {nodes.length > 0 && <Cells label={label} nodes={nodes} all={all} />}
    </section>
  );
};
