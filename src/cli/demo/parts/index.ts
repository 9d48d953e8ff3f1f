import { advancedPart } from './advanced.ts';
import { autoPart } from './auto.ts';
import { fleetPart } from './fleet.ts';
import { otaPart } from './ota.ts';
import type { Part, PartOptions } from './part.ts';
import { ringsPart } from './rings.ts';

/** In the order in which the demo runs them. */
export const createPart = {
  fleet: fleetPart,
  auto: autoPart,
  ota: otaPart,
  advanced: advancedPart,
  rings: ringsPart,
} satisfies Record<string, (options: PartOptions) => Part>;

export type PartName = keyof typeof createPart;
export const partNames = Object.keys(createPart) as readonly PartName[];

export type { Part, Step } from './part.ts';
