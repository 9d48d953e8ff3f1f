import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { go, route } from '../route.ts';
import { text } from '../text/index.ts';
import type { NodeCell, StageStep } from '../types.ts';
import { createPainter, gridFor, indexAt } from '../view/cells.ts';
import { StageLine } from './stages.tsx';

interface FleetGridProps {
  name: string;
  nodes: readonly NodeCell[];
  /** The nodes of all groups. */
  all: number;
  /** The stage whose nodes these are. */
  step?: StageStep | undefined;
}

/** A group of nodes, a cell each. The arrow keys move, Enter opens a node. */
export const FleetGrid = ({ name, nodes, all, step }: FleetGridProps) => {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [at, setAt] = useState(-1);
  const isEmpty = nodes.length === 0;
  const grid = gridFor(nodes.length, width, all, innerHeight);
  const painter = useRef<ReturnType<typeof createPainter>>(undefined);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => {
      observer.disconnect();
      painter.current = undefined;
    };
  }, [isEmpty]);
  const { node: shown } = route.value;
  const chosen = shown === '' ? -1 : nodes.findIndex(([node]) => node === shown);
  useLayoutEffect(() => {
    if (!canvas.current || width === 0) return;
    painter.current ??= createPainter(canvas.current);
    painter.current(nodes, grid, at >= 0 ? at : chosen);
  }, [nodes, grid.size, grid.columns, width, at, chosen]);

  const pointed = ({ offsetX, offsetY }: MouseEvent): number => indexAt(grid, nodes.length, offsetX, offsetY);
  const open = (index: number): void => {
    const [node] = nodes[index] ?? [];
    if (node !== undefined) go({ node });
  };
  const onKey = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -grid.columns, ArrowDown: grid.columns }[event.key];
    if (event.key === 'Enter') open(at);
    if (by === undefined) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(nodes.length - 1, (at < 0 ? 0 : at) + (at < 0 ? 0 : by))));
  };
  const [node = '', phase = '', cause = ''] = nodes[at] ?? [];
  const label = name === '' ? text.fleet.nodes : name;
  return (
    <section class="group">
      <h2>
        {label} <span class="soft">{nodes.length}</span>
      </h2>
      {step && <StageLine step={step} />}
      {!isEmpty && (
        <div ref={box} class="grid">
          <canvas
            ref={canvas}
            role="application"
            tabIndex={0}
            aria-label={text.fleet.grid(label, nodes.length)}
            style={{ height: `${grid.height}px` }}
            onMouseMove={(event) => setAt(pointed(event))}
            onMouseLeave={() => setAt(-1)}
            onClick={(event) => open(pointed(event))}
            onKeyDown={onKey}
          />
        </div>
      )}
      {!isEmpty && (
        <p class="pointed" role="status">
          {node === '' ? '' : text.fleet.pointed(node, phase, cause)}
        </p>
      )}
    </section>
  );
};
