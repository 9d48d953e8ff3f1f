import { signal } from '@preact/signals';

const TICK_MS = 5_000;

let aheadMs = 0;

/** The dashboard has said what time it is where the times of the cluster come from. */
export const setClock = (now: number): void => {
  aheadMs = now - Date.now();
  if (!isFrozen) shownNow.value = now;
};

/** The time to compare times of the cluster with. */
export const clusterNow = (): number => Date.now() + aheadMs;

let isFrozen = false;

/** What ages are counted to: it moves every few seconds, and stands still while what is shown may be old. */
export const shownNow = signal(clusterNow());

/** The present to the second; it stands still with the ages. */
export const countedNow = (): number => (isFrozen ? shownNow.value : clusterNow());

export const freezeAges = (frozen: boolean): void => {
  isFrozen = frozen;
  if (!frozen) shownNow.value = clusterNow();
};

let ticks: ReturnType<typeof setInterval> | undefined;

/** A test that imports this must come to its end. */
export const keepTime = (): void => {
  ticks ??= setInterval(() => {
    if (!isFrozen) shownNow.value = clusterNow();
  }, TICK_MS);
};
