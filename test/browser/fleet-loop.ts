import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { resolveDemoOptions, runDemo, type View } from '../../src/cli/demo/index.ts';
import type { Snapshot } from '../../src/cli/fleet/index.ts';
import { drawLoop } from './draw-loop.ts';

const SHOPS = '72';
/** Slow enough for a frame of each change. */
const SPEED = '6';

/** By the number of the demo's step. */
const SCENES = [
  { step: 3, caption: 'Version 2 flows around the shops that are offline', seconds: 9, holdSeconds: 1.5 },
  { step: 4, caption: 'Version 3 crashes: three shops, then it stops', seconds: 6.5, holdSeconds: 3.5 },
  { step: 5, caption: 'Undo: the three shops go back to version 2', seconds: 4.5, holdSeconds: 2.5 },
] as const;
const HALTED = 1;

/** Records a run of the demo's fleet, and draws it as a loop. */
export const recordFleetLoop = async (file: string): Promise<void> => {
  const seen = SCENES.map((): Snapshot[] => []);
  const view: View = {
    say: () => undefined,
    step: () => undefined,
    show: ({ step }, snapshot) => void seen[SCENES.findIndex((scene) => scene.step === step)]?.push(snapshot),
    passed: () => undefined,
    failed: () => undefined,
    readingMs: 0,
    close: () => undefined,
  };
  const code = await runDemo(resolveDemoOptions(['fleet'], { fleet: SHOPS, speed: SPEED }), {
    view,
    stderr: (text) => process.stderr.write(text),
    signal: new AbortController().signal,
  });
  assert.equal(code, 0);
  const scenes = SCENES.map((scene, index) => ({ ...scene, snapshots: seen[index] ?? [] }));
  await writeFile(file, drawLoop(scenes, HALTED));
};
