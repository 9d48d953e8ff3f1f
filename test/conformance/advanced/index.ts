import { busyRules } from '../busy/index.ts';
import { errorRules } from '../errors/index.ts';
import { windowRules } from '../windows/index.ts';
import { crash } from './crash.ts';
import { firstWave } from './first-wave.ts';
import { handingOver } from './handover.ts';
import { recorded } from './history.ts';
import { imageDrift } from './image-drift.ts';
import { inPlaceUpdates } from './in-place-updates.ts';
import { leaders } from './leaders.ts';
import { lifecycle } from './lifecycle.ts';
import { applying } from './manifests.ts';
import { ota } from './ota.ts';
import { ownership } from './ownership.ts';
import { partition } from './partition.ts';
import { placement } from './placement.ts';
import { refusals } from './refusals.ts';
import { history } from './revisions.ts';
import { rolling } from './rolling.ts';
import { served } from './served.ts';
import { stages } from './stages.ts';
import { status } from './status.ts';
import { surge } from './surge.ts';
import { warnings } from './warnings.ts';

export { describeAdvancedApi } from './api.ts';
export { describeInPlace } from './in-place.ts';
export { describeOwners } from './owners.ts';
export type { PodTestContext } from './pod-context.ts';
export { templateLabels, templateSpecs, withSpec } from './template-specs.ts';
export { describeTemplates } from './templates.ts';

/** Every rule of the specification of Advanced DaemonSets, played by a manager. */
export const advancedRules = [
  ...served,
  ...rolling,
  ...firstWave,
  ...imageDrift,
  ...partition,
  ...surge,
  ...stages,
  ...busyRules('advanced'),
  ...windowRules('advanced'),
  ...errorRules('advanced'),
  ...inPlaceUpdates,
  ...lifecycle,
  ...placement,
  ...refusals,
  ...ota,
  ...handingOver,
  ...history,
  ...recorded,
  ...status,
  ...warnings,
  ...ownership,
  ...applying,
  ...crash,
  ...leaders,
];
