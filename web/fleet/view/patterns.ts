import type { OnlinePhase } from './moments.ts';

type Fill = CanvasPattern | string;

const TILE = 8;

/** Device pixels of a CSS pixel. */
const ratio = (): number => globalThis.devicePixelRatio || 1;

/** Draws on a tile that repeats, CSS px. */
const tileOf = (draw: (context: CanvasRenderingContext2D) => void): HTMLCanvasElement => {
  const tile = document.createElement('canvas');
  tile.width = tile.height = Math.round(TILE * ratio());
  const context = tile.getContext('2d');
  if (context) {
    context.scale(tile.width / TILE, tile.height / TILE);
    draw(context);
  }
  return tile;
};

/** Lines from the lower left to the upper right, which meet those of the next tile. */
const hatch = (context: CanvasRenderingContext2D, stroke: string, width: number): void => {
  context.strokeStyle = stroke;
  context.lineWidth = width;
  context.beginPath();
  for (const shift of [-TILE, 0, TILE]) {
    context.moveTo(shift - 1, TILE + 1);
    context.lineTo(shift + TILE + 1, -1);
  }
  context.stroke();
};

/** How the areas of the time line are filled. `color` is that of a custom property. */
export const createPatterns = (color: (name: string) => string) => {
  const on = (fill: string, draw: (context: CanvasRenderingContext2D) => void): HTMLCanvasElement =>
    tileOf((context) => {
      context.fillStyle = fill;
      context.fillRect(0, 0, TILE, TILE);
      draw(context);
    });
  // Both wait, and are told apart without their colors.
  const held = on(color('--outdated'), (context) => hatch(context, color('--held-line'), 2));
  const settling = on(color('--surface'), (context) => {
    context.fillStyle = color('--settling');
    for (const at of [0, TILE / 2]) context.fillRect(at + 1, at + 1, 2, 2);
  });
  const veil = tileOf((context) => {
    context.globalAlpha = 0.55;
    hatch(context, color('--surface'), 2);
  });
  const repeated = (context: CanvasRenderingContext2D, tile: HTMLCanvasElement, instead: Fill): Fill =>
    context.createPattern(tile, 'repeat') ?? instead;
  return {
    phase: (context: CanvasRenderingContext2D, phase: OnlinePhase): Fill => {
      const plain = color(`--${phase}`);
      if (phase === 'held') return repeated(context, held, plain);
      return phase === 'settling' ? repeated(context, settling, plain) : plain;
    },
    /** Over what nobody has seen. */
    veil: (context: CanvasRenderingContext2D): CanvasPattern | null => context.createPattern(veil, 'repeat'),
  };
};
