import { busyRules } from '../busy/index.ts';
import { errorRules } from '../errors/index.ts';
import { windowRules } from '../windows/index.ts';
import { breaker } from './breaker.ts';
import { budget } from './budget.ts';
import { checks } from './checks.ts';
import { controls } from './controls.ts';
import { cost } from './cost.ts';
import { crash } from './crash.ts';
import { eligibility } from './eligibility.ts';
import { events } from './events.ts';
import { exposed } from './exposed.ts';
import { faults } from './faults.ts';
import { firstWave } from './first-wave.ts';
import { flags } from './flags.ts';
import { history } from './history.ts';
import { imageDrift } from './image-drift.ts';
import { judgedPlans } from './judged-plans.ts';
import { limits } from './limits.ts';
import { metrics } from './metrics.ts';
import { offline } from './offline.ts';
import { optingIn } from './opting-in.ts';
import { order } from './order.ts';
import { announcing } from './ota.ts';
import { announcingFaults } from './ota-breaker.ts';
import { reasons } from './reasons.ts';
import { rollback } from './rollback.ts';
import { stages } from './stages.ts';
import { status } from './status.ts';
import { target } from './target.ts';
import { updates } from './updates.ts';
import { walkthrough } from './walkthrough.ts';
import { warnings } from './warnings.ts';

/** Every rule of the specification of native DaemonSets, without what agents do. */
export const nativeRules = [
  ...optingIn,
  ...target,
  ...eligibility,
  ...offline,
  ...budget,
  ...order,
  ...stages,
  ...exposed,
  ...busyRules('native'),
  ...windowRules('native'),
  ...errorRules('native'),
  ...judgedPlans,
  ...checks,
  ...limits,
  ...updates,
  ...breaker,
  ...firstWave,
  ...imageDrift,
  ...rollback,
  ...history,
  ...controls,
  ...status,
  ...events,
  ...warnings,
  ...metrics,
  ...reasons,
  ...flags,
  ...cost,
  ...crash,
  ...walkthrough,
  ...announcing,
  ...announcingFaults,
  // Last: after a restart of the API server, each informer of the control plane waits out a back-off of up to a minute.
  ...faults,
];
