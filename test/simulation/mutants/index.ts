import { busy } from './busy.ts';
import { closedStages } from './closed-stages.ts';
import { ofDevices } from './device.ts';
import { drift } from './drift.ts';
import { ofErrors } from './errors.ts';
import { exposed } from './exposed.ts';
import { firstWave } from './first-wave.ts';
import { handOver } from './hand-over.ts';
import { ofInPlace } from './in-place.ts';
import { ofJudge } from './judge.ts';
import { kruise } from './kruise.ts';
import { kubernetes } from './kubernetes.ts';
import { liveness } from './liveness.ts';
import type { Mutant } from './mutant.ts';
import { neighbours } from './neighbours.ts';
import { openyurt } from './openyurt.ts';
import { own } from './own.ts';
import { pulling } from './pulling.ts';
import { refusals } from './refusals.ts';
import { safety } from './safety.ts';
import { stages } from './stages.ts';
import { ofStory } from './story.ts';

/** Defects of controllers, those of others and our own. */
export const mutants: readonly Mutant[] = [
  ...kubernetes,
  ...kruise,
  ...openyurt,
  ...safety,
  ...firstWave,
  ...closedStages,
  ...drift,
  ...liveness,
  ...own,
  ...ofDevices,
  ...ofErrors,
  ...neighbours,
  ...refusals,
  ...handOver,
  ...stages,
  ...exposed,
  ...pulling,
  ...ofInPlace,
  ...ofJudge,
  ...busy,
  ...ofStory,
];
