import type { Proofs } from '../cases.ts';
import { advancedAnnotations, annotations } from './annotations.ts';
import { commands } from './commands.ts';
import { advancedConditions, conditions } from './conditions.ts';
import { agentEvents, managerEvents, routes } from './events.ts';
import { advancedFields, planFields } from './fields.ts';
import { agentFlags, connectionFlags, environment, managerFlags, reachFlags } from './flags.ts';
import { agentMetrics, dashboardMetrics, managerMetrics, reachMetrics } from './metrics.ts';

/** The case of each row, by the area of test/as-shipped/areas.ts. */
export const proofs: Readonly<Record<string, Proofs>> = {
  annotations,
  advancedAnnotations,
  planFields,
  advancedFields,
  managerFlags,
  agentFlags,
  reachFlags,
  environment,
  conditions,
  advancedConditions,
  managerEvents,
  agentEvents,
  managerMetrics,
  agentMetrics,
  dashboardMetrics,
  reachMetrics,
  connectionFlags,
  commands,
  routes,
};
