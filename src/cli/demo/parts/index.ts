import { advancedPart } from './advanced.ts';
import { autoPart } from './auto.ts';
import { fleetPart } from './fleet.ts';
import { otaPart } from './ota.ts';
import type { Part, PartOptions } from './part.ts';

/** In the order in which the demo runs them. */
const parts = {
  auto: autoPart,
  ota: otaPart,
  advanced: advancedPart,
  fleet: fleetPart,
} satisfies Record<string, (options: PartOptions) => Part>;

export type PartName = keyof typeof parts;
export const partNames = Object.keys(parts) as readonly PartName[];
export const isPartName = (text: string): text is PartName => partNames.some((name) => name === text);
export const createPart = (name: PartName, options: PartOptions): Part => parts[name](options);

export type { Part, PartOptions, Step } from './part.ts';
