// A screen on a wall: it shows the rollouts that are not complete in turn, and stands still while somebody uses it.

import { computed, effect, signal } from '@preact/signals';
import { hrefOf, linkTo, route } from '../route.ts';
import { isOut } from '../session.ts';
import { followRows, rows } from '../store.ts';
import { nextOnWall } from './rotation.ts';

const EACH_MS = 20_000;
const PAUSE_MS = 60_000;
const ACTIVITIES = ['pointermove', 'pointerdown', 'wheel', 'keydown'] as const;

export const isWall = computed(() => route.value.wall !== '');
/** Somebody uses it. */
export const isHeld = signal(false);

export const startWall = (): void => {
  location.hash = hrefOf({ ...route.value, node: '', wall: 'on' });
};

export const leaveWall = (): void => {
  if (isWall.value) location.hash = hrefOf({ ...route.value, wall: '' });
};

/** Shows the next one. Not a step of the browser's history, which would grow for weeks. */
const turn = (): void => {
  isHeld.value = false;
  // Somebody decides on something.
  if (document.querySelector('dialog[open]')) return;
  const next = nextOnWall(rows.value?.values() ?? [], route.value.rollout);
  const href = linkTo(next);
  if (href !== hrefOf(route.value)) location.replace(href);
};

const rotate = (): (() => void) => {
  let timer = setTimeout(onTime, EACH_MS);
  function onTime(): void {
    turn();
    timer = setTimeout(onTime, EACH_MS);
  }
  const onActivity = (event: Event): void => {
    // A browser tells of a pointer that rests, when the page moves below it.
    if (event instanceof PointerEvent && event.type === 'pointermove' && !event.movementX && !event.movementY) return;
    isHeld.value = true;
    clearTimeout(timer);
    timer = setTimeout(onTime, PAUSE_MS);
  };
  for (const type of ACTIVITIES) addEventListener(type, onActivity, { passive: true });
  const unfollow = followRows();
  // The overview is for a wall without anything to show.
  const begin = effect(() => {
    if (!route.value.rollout && !isHeld.value && nextOnWall(rows.value?.values() ?? [], undefined)) turn();
  });
  return () => {
    begin();
    unfollow();
    clearTimeout(timer);
    for (const type of ACTIVITIES) removeEventListener(type, onActivity);
    isHeld.value = false;
  };
};

let stop: (() => void) | undefined;

export const watchWall = (): void => {
  // Before somebody has logged in, there is nothing to show.
  computed(() => isWall.value && !isOut.value).subscribe((isOn) => {
    document.documentElement.classList.toggle('wall', isOn);
    stop?.();
    stop = isOn ? rotate() : undefined;
  });
};
