/**
 * All texts of the page that are its own. The sentences about nodes and rollouts, the names of phases and causes, and what commands
 * print come from the dashboard, in English, as `kubectl edgeset` prints them: users look for them in the documentation. Another
 * language is a copy of this file: a text that is missing there is an error of the compiler.
 */
export const en = {
  /** The tag of the page, of its dates and of its numbers. */
  language: 'en',

  link: {
    loading: 'connecting',
    live: 'live',
    silent: 'The dashboard does not answer; retrying.',
    refused: 'The dashboard refuses to show this; retrying.',
  },

  request: {
    noAnswer: 'The dashboard does not answer. Is it still running?',
    failed: (status: number) => `The dashboard answered with ${status}.`,
  },

  page: {
    where: 'Where you are',
    title: (rollout: string) => `${rollout} - edgeset`,
  },

  login: {
    title: 'Log in',
    intro:
      "Give a bearer token of the cluster. You see the namespaces that its user may read, and act with that user's rights.",
    token: 'Token',
    enter: 'Log in',
    leave: 'Log out',
    serviceAccount: 'For a service account:',
  },

  noKey: {
    title: 'Open the dashboard again',
    what: 'Open the address that the terminal printed last, in this tab or another one. Each address opens one page; the tabs that you open from it need none.',
  },

  overview: {
    title: 'Rollouts',
    reading: 'Reading the rollouts…',
    empty: 'No DaemonSet has opted in yet.',
    search: 'Search',
    searchHint: 'name, namespace or status',
    noMatch: (search: string) => `No rollout matches “${search}”.`,
    table: 'Table of rollouts',
    advanced: 'Advanced',
    noNodes: 'no nodes',
    nodes: (count: number, phase: string) => `${count} ${phase}`,
    updated: (updated: number, all: number) => `${updated} of ${all}`,
    columns: {
      name: 'Name',
      namespace: 'Namespace',
      status: 'Status',
      progress: 'Progress',
      offline: 'Offline',
      failed: 'Failed',
      budget: 'Budget',
      target: 'Target',
      started: 'Started',
    },
  },

  rollout: {
    reading: 'Reading the fleet…',
    about: (kind: string, namespace: string, started: string) => `${kind} in ${namespace}, started ${started}`,
    finished: (when: string) => `, all online nodes updated ${when}`,
    budget: (inUse: number, limit: number) => `; budget ${inUse} of ${limit}`,
    phases: 'Phases',
    phase: (count: number, phase: string) => `${count} ${phase}`,
    causes: 'Causes',
    cause: (count: number, cause: string) => `${count} ${cause}`,
    groupBy: 'Group by',
    ungrouped: 'nothing',
    byStage: 'stage',
    node: 'Node',
    revisions: 'Revisions',
    target: 'target',
  },

  fleet: {
    nodes: 'Nodes',
    grid: (group: string, count: number) => `${group}: ${count} nodes; arrow keys move, Enter opens a node`,
    pointed: (node: string, phase: string, cause: string) => `${node}: ${phase} (${cause})`,
  },

  stages: {
    title: 'Stages',
    line: 'Stages in one line',
    ofPlan: (plan: string) => `of plan ${plan}`,
    states: { Passed: 'Passed', Open: 'Open', Closed: 'Closed' },
    progress: (updated: number, online: number, total: number) =>
      `${updated} of ${online} online nodes updated, ${total} in all`,
    nodes: (count: number) => (count === 1 ? '1 node' : `${count} nodes`),
    dot: (stage: string, state: string, progress: string) => `${stage}: ${state}${progress && `, ${progress}`}`,
    counts: (passed: number, total: number, open: string) =>
      `${passed} of ${total} stages passed${open && `; ${open} is open`}`,
    exposed: (nodes: number) => `${nodes} exposed to the new version before the stage opens`,
    bar: (stage: string) => `Updated nodes of stage ${stage}`,
    left: (time: string) => `${time} left`,
    checks: (stage: string) => `Checks of stage ${stage}`,
    passed: (when: string) => `Passed ${when}`.trim(),
    approve: (stage: string) => `Approve ${stage}…`,
    promote: (stage: string) => `Promote ${stage}…`,
    approves: (stage: string, progress: string) => `You approve stage ${stage}: ${progress}.`,
    promotes: (stage: string, skipped: readonly string[]) =>
      skipped.length === 0
        ? `You promote stage ${stage}. Nothing that it waits for now is skipped.`
        : `You promote stage ${stage}. This skips: ${skipped.join(', ')}.`,
    coverage: (updated: number, online: number) => `coverage (${updated} of ${online} online nodes updated)`,
    soak: (left: string) => `soak (${left})`,
    check: (check: string, state: string) => `check ${check} (${state})`,
  },

  timeLine: {
    nodes: 'online nodes',
    budget: 'budget',
    inUse: 'slots in use',
    limit: 'limit',
    recorded: 'from records',
    now: 'Now',
    end: 'At the end',
    phase: (count: number, phase: string, share: string) => `${count} ${phase} (${share})`,
    slots: (inUse: number, limit: number) => `${inUse} of ${limit} slots in use`,
    marks: 'What happened',
    from: (phase: string, first: string, last: string) => `${phase} from ${first} to ${last}`,
    summary: (first: string, last: string, phases: readonly string[], inUse: number, limit: number) =>
      `Online nodes by phase, ${first} to ${last}: ${phases.join(', ')}${limit > 0 ? `; ${inUse} of ${limit} slots in use` : ''}`,
  },

  actions: {
    pause: 'Pause…',
    resume: 'Resume…',
    undo: 'Undo…',
    history: 'History',
    plan: 'Plan',
    set: 'Set…',
    budget: 'Budget',
    partition: 'Partition',
    count: 'a number of nodes, or a percentage',
  },

  command: {
    title: 'Command',
    output: (command: string) => `What ${command} says`,
    asking: 'Asking the API server…',
    outdated: 'The target revision has changed meanwhile: close this, and look at it first.',
    comment: 'Comment',
    commentHint: 'why, for those who read it later',
    confirm: 'Do it',
    cancel: 'Cancel',
    close: 'Close',
  },

  node: {
    title: (node: string) => `Node ${node}`,
    close: 'Close',
    reading: 'Reading…',
    node: 'Node',
    pods: 'Pods',
    events: 'Events',
    none: 'none',
    ready: 'ready',
    notReady: 'not ready',
    terminating: 'terminating',
    revision: 'revision',
    missing: (what: string) => `Not shown: ${what}`,
  },

  past: {
    title: 'Last rollouts',
    table: 'Table of the last rollouts',
    columns: [
      'Rollout',
      'Began',
      'Revision',
      'Result',
      'Nodes',
      'Failed',
      'Duration',
      'Changed by',
      'Images',
      'Stages',
    ],
    passed: (when: string, how: string) => `passed ${when} (${how})`,
    notPassed: 'not passed',
    decided: {
      Approve: (by: string) => `approved by ${by}`,
      Promote: (by: string) => `promoted by ${by}`,
    },
    comment: (comment: string) => `: ${comment}`,
    revisions: (from: number, to: number) => `${from} to ${to}`,
  },
};

export type Text = typeof en;
