export { runCommand } from './commands.ts';
export { type Addresses, type OwnDashboard, openDashboard } from './dashboard.ts';
export { refuseServeFlags, type ServeFlags } from './in-cluster/options.ts';
export { serveDashboard } from './in-cluster/serve.ts';
