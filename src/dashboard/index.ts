export { runCommand } from './commands.ts';
export {
  type Addresses,
  type ClustersDashboardOptions,
  type OwnDashboard,
  openClustersDashboard,
  openDashboard,
} from './dashboard.ts';
export { kubectlEdgeset } from './edgeset-in.ts';
export { refuseServeFlags, type ServeFlags } from './in-cluster/options.ts';
export { serveDashboard } from './in-cluster/serve.ts';
export type { CommandRequest, CommandResult } from './messages.ts';
