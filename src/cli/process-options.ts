import type { Command } from 'commander';

// Flags that several processes have.

export const addLeaderElectionOptions = (command: Command, id: string): Command =>
  command
    .option('--leader-elect [boolean]', 'use leader election, so that replicas can stand by (default: true)')
    .option(
      '--leader-election-namespace <name>',
      "namespace of the Lease (default: the pod's namespace, else edgeset-system)",
    )
    .option('--leader-election-id <name>', `name of the Lease (default: ${id})`)
    .option(
      '--leader-election-lease-duration <duration>',
      'how long the Lease is valid after its last renewal (default: 15s)',
    )
    .option(
      '--leader-election-renew-deadline <duration>',
      'how long the leader retries a renewal before it steps down (default: 10s)',
    )
    .option(
      '--leader-election-retry-period <duration>',
      'time between attempts to acquire or renew the Lease (default: 2s)',
    );

export const addEndpointOptions = (command: Command): Command =>
  command
    .option(
      '--metrics-bind-address <address>',
      'address of /metrics; :PORT for all interfaces, 0 disables it (default: 127.0.0.1:8080)',
    )
    .option(
      '--health-probe-bind-address <address>',
      'address of /healthz and /readyz; :PORT for all interfaces, 0 disables it (default: 127.0.0.1:8081)',
    );

export const addLogOptions = (command: Command): Command =>
  command
    .option('--log-level <level>', 'debug, info, warn or error (default: info)')
    .option('--log-format <format>', 'json or text (default: text on a terminal, else json)');
