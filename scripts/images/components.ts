// What each image runs, and as which user.

import { AGENT_FLAGS, DASHBOARD_FLAGS, MANAGER_FLAGS } from '../../bin/flags.ts';

export interface Component {
  name: string;
  title: string;
  description: string;
  /** Also the group. */
  uid: number;
  /** Its line in /etc/passwd. */
  user: string;
  /** The folder of `dist/` that holds the program, and the program in it. */
  folder: string;
  program: string;
  /** Node's flags. */
  flags: readonly string[];
  /** The arguments when a pod gives none. */
  command: readonly string[];
}

export const components: readonly Component[] = [
  {
    name: 'manager',
    title: 'edgeset manager',
    description: 'Rolls DaemonSets out to machines that come and go',
    uid: 65532,
    user: 'nonroot',
    folder: 'manager',
    program: 'edgeset-manager.mjs',
    flags: MANAGER_FLAGS,
    command: ['help'],
  },
  {
    name: 'agent',
    title: 'edgeset agent',
    description: "Lets a node's owner decide when its pods are updated",
    uid: 10267,
    user: 'edgeset-agent',
    folder: 'agent',
    program: 'edgeset-agent.mjs',
    flags: AGENT_FLAGS,
    command: [],
  },
  {
    name: 'dashboard',
    title: 'edgeset dashboard',
    description: 'Shows the rollouts of DaemonSets in a browser, to users who may read them',
    uid: 65531,
    user: 'edgeset-dashboard',
    folder: 'dashboard',
    program: 'edgeset-dashboard.mjs',
    flags: DASHBOARD_FLAGS,
    command: ['help'],
  },
];

export const NODE = '/usr/local/bin/node';

/** One arena, because one thread allocates. */
export const ENVIRONMENT: Readonly<Record<string, string>> = { PATH: '/usr/local/bin', MALLOC_ARENA_MAX: '1' };

export const entrypointOf = ({ flags, program }: Component): readonly string[] => [NODE, ...flags, `/app/${program}`];
