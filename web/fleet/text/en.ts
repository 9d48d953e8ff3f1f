import { keysEn } from './en-keys.ts';

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
    lost: 'not connected',
    silent: 'The dashboard does not answer; retrying.',
    refused: 'You are not allowed to view this; retrying.',
    since: (time: string) => `This is what was known at ${time}.`,
    never: 'Nothing is known yet.',
  },

  copy: { copy: 'copy', done: 'copied', failed: 'select it to copy it' },

  request: {
    noAnswer: 'The dashboard does not answer. Is it still running?',
    failed: (status: number) => `The dashboard answered with ${status}.`,
  },

  page: {
    product: 'edgeset',
    where: 'Where you are',
    title: (glyph: string, rollout: string | undefined, cluster: string | undefined) =>
      [glyph, rollout, cluster && `(${cluster})`, rollout && '-', 'edgeset'].filter((part) => part).join(' '),
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

  version: {
    change: (from: string, to: string) => `${from} → ${to}`,
    image: (name: string, change: string) => `${name} ${change}`,
    images: (count: number) => `${count} images`,
  },

  overview: {
    title: 'Rollouts',
    reading: 'Reading the rollouts…',
    empty: 'No DaemonSet has opted in yet.',
    optIn: 'To opt in, set these two fields of a DaemonSet:',
    optInAdvanced: 'An Advanced DaemonSet needs neither of them.',
    search: 'Search',
    searchHint: 'name, namespace or status',
    searchClustersHint: 'name, cluster, namespace or status',
    connecting: 'Connecting to the cluster…',
    silent: "This cluster can't be read; retrying.",
    stale: "This cluster can't be read; retrying. What is shown of it may be old.",
    silentOf: (silent: number, all: number) => `${silent} of ${all} clusters can't be read`,
    noRollouts: 'No rollouts.',
    noMatch: (search: string) =>
      search === '' ? 'No rollout matches this filter.' : `No rollout matches “${search}”.`,
    showAll: 'Show all rollouts',
    table: 'Rollouts that are not complete',
    completeTable: 'Rollouts that are complete',
    tableOf: (cluster: string, table: string) => `${cluster}: ${table}`,
    advanced: 'Advanced',
    filters: 'Show only',
    groups: {
      stopped: (count: number) => `${count} stopped`,
      person: (count: number) => (count === 1 ? '1 waits for you' : `${count} wait for you`),
      running: (count: number) => `${count} running`,
      waiting: (count: number) => `${count} waiting or paused`,
      complete: (count: number) => `${count} complete`,
    },
    offline: (offline: number, all: number) => `${offline} of ${all} nodes offline`,
    offlineOf: (rollout: string) => `Nodes of ${rollout}. Shows the rollouts with offline nodes.`,
    offlineOfEach: 'Nodes of the largest rollout of each cluster. Shows the rollouts with offline nodes.',
    noneOnline: 'no node online',
    percent: (percent: number) => `${percent}%`,
    columns: {
      status: 'Status',
      name: 'Name',
      version: 'Version',
      progress: 'Progress',
      stages: 'Stages',
      failed: 'Failed',
      left: 'Time left',
      started: 'Started',
    },
  },

  head: {
    revision: (number: number, hash: string) => `rev ${number} · ${hash}`,
    changedBy: (manager: string) => `Changed by ${manager}`,
    cause: (why: string) => `“${why}”`,
    first: 'first rollout',
    started: (when: string) => `started ${when}`,
    halted: (when: string) => `halted ${when}`,
    paused: (when: string) => `paused ${when}`,
    finished: (when: string) => `all online nodes updated ${when}`,
    strategy: (name: string) => ({ auto: 'automatic', ota: 'owners decide', manual: 'by deleting pods' })[name] ?? name,
    budget: (share: string, nodes: number) =>
      share === String(nodes) ? `budget ${nodes}` : `budget ${share} = ${nodes}`,
    plan: (name: string) => `plan ${name}`,
    noPlan: 'no plan',
  },

  why: {
    notes: 'Notes',
    worst: (failed: number, all: number, group: string) => `${failed} of ${all} nodes of ${group} failed.`,
    cause: (cause: string, count: number) => `${cause} × ${count}`,
    first: (node: string) => `First: ${node}`,
    since: (what: string, when: string) => `${what} ${when}`,
  },

  numbers: {
    title: 'Numbers',
    progress: 'Progress of online nodes',
    reached: (updated: number, online: number, version: string, offline: number) =>
      `${updated} of ${online} on ${version || 'the target'}${offline > 0 ? ` · ${offline} offline, skipped` : ''}`,
    failed: 'Failed',
    haltsAt: (nodes: number, suspects: number) => `halts at ${nodes}${suspects > 0 ? ` · ${suspects} suspect` : ''}`,
    budget: 'Budget in use',
    share: (share: string, failed: number, inUse: number) =>
      failed > 0 && failed >= inUse ? 'held by failed nodes' : `of ${share}`,
    noBudget: (strategy: string) => (strategy === 'auto' ? 'nothing may be updated' : 'owners decide'),
    rate: 'Rate',
    perMinute: (nodes: number) => `${nodes} / min`,
    average: 'nodes, on average',
    unknown: 'not known yet',
    soon: 'nearly done',
    left: 'Time left',
    endsAt: (time: string) => `until ${time}`,
  },

  bar: { nodes: (count: number, phase: string) => `${count} ${phase}`, none: 'no nodes' },

  tabs: {
    title: 'Parts of the rollout',
    names: {
      fleet: 'Fleet',
      stages: 'Stages',
      timeline: 'Timeline',
      history: 'History',
      events: 'Events',
      settings: 'Settings',
    },
  },

  ...keysEn,

  events: {
    title: 'Events of the DaemonSet and its rollout',
    times: (count: number) => `(${count} times)`,
  },

  settings: {
    title: 'Policy',
    strategy: 'Strategy',
    budget: 'Budget (maxUnavailable)',
    surge: 'Budget (maxSurge)',
    partition: 'Partition',
    threshold: 'Failure threshold',
    plan: 'Rollout plan',
    change: 'Change it',
  },

  rollout: {
    reading: 'Reading the fleet…',
    phases: 'Phases',
    without: (phases: number) => `${phases} ${phases === 1 ? 'phase' : 'phases'} with 0 nodes`,
    sort: 'Sort',
    worstFirst: 'worst first',
    byName: 'by name',
    phase: (count: number, phase: string) => `${count} ${phase}`,
    causes: 'Causes',
    cause: (count: number, cause: string) => `${count} ${cause}`,
    groupBy: 'Group by',
    ungrouped: 'nothing',
    byStage: 'stage',
    node: 'Node',
  },

  fleet: {
    title: 'Fleet',
    nodes: 'Nodes',
    failed: (count: number) => `${count} failed · `,
    updated: (updated: number, all: number) => `${updated} of ${all} nodes are updated`,
    showAll: (value: string) => `${value}: show all groups`,
    grid: (group: string, count: number) => `${group}: ${count} nodes; arrow keys move, Enter opens a node`,
    pointed: (node: string, phase: string, cause: string) => `${node}: ${phase} (${cause})`,
  },

  stages: {
    title: 'Stages',
    line: 'Stages in one line',
    none: 'There are no stages: the DaemonSet follows no rollout plan.',
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
        ? `Stage ${stage} has its coverage, and no soak or check is left to skip.`
        : `This skips: ${skipped.join(', ')}.`,
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
    resumeAnyway: 'Resume anyway…',
    undo: (to: string) => (to === '' ? 'Undo…' : `Undo to ${to}…`),
    preview: 'Preview next wave',
    plan: 'Preview…',
    set: 'Set…',
    budget: 'Budget',
    partition: 'Partition',
    nodes: (nodes: number) => `= ${nodes} ${nodes === 1 ? 'node' : 'nodes'}`,
    surges: (surge: string, nodes: string) => `new pods start beside old ones: maxSurge ${surge} ${nodes}`,
    ownersDecide: 'owners decide: the budget limits nothing',
    partitionMeans: 'nodes that stay on the old revision',
    count: 'a number of nodes, or a percentage',
  },

  command: {
    title: 'Command',
    asking: 'Asking the API server…',
    outdated: 'The target revision has changed meanwhile: close this, and look at it first.',
    comment: 'Comment',
    commentHint: 'why, for those who read it later',
    cancel: 'Cancel',
    close: 'Close',
    before: 'Now',
    after: 'Then',
    typed: 'As a command',
    preview: 'Preview of the next wave',
    revision: (number: number) => `revision ${number}`,
    verbs: {
      pause: (name: string) => ({ title: `Pause ${name}`, button: 'Pause' }),
      resume: (name: string) => ({ title: `Resume ${name}`, button: 'Resume' }),
      resumeNevertheless: (name: string) => ({
        title: `Resume ${name} although it was halted`,
        button: 'Resume anyway',
      }),
      resumeInSpite: (name: string, failures: number) => ({
        title: `Resume ${name} in spite of ${failures} ${failures === 1 ? 'failure' : 'failures'}`,
        button: 'Resume anyway',
      }),
      undo: (name: string, to: string) =>
        to === ''
          ? { title: `Undo ${name}`, button: 'Undo' }
          : { title: `Undo ${name} to ${to}`, button: `Undo to ${to}` },
      set: (name: string) => ({ title: `Change the settings of ${name}`, button: 'Set' }),
      plan: (name: string) => ({ title: `Preview of the next wave of ${name}`, button: '' }),
      approve: (name: string, stage: string) => ({
        title: `Approve stage ${stage} of ${name}`,
        button: `Approve ${stage}`,
      }),
      promote: (name: string, stage: string) => ({
        title: `Promote stage ${stage} of ${name}`,
        button: `Promote ${stage}`,
      }),
    },
  },

  effects: {
    pause: 'No further update starts. Updates that run now finish.',
    forgive: (failures: number) =>
      failures === 1
        ? '1 failure is forgiven: it no longer stops the rollout.'
        : `${failures} failures are forgiven: they no longer stop the rollout.`,
    goOn: (outdated: number) => `Updates continue on ${outdated} outdated ${outdated === 1 ? 'node' : 'nodes'}.`,
    haltAgain: 'New failures can halt the rollout again.',
    repair: (failed: number, to: string) =>
      `${failed} failed ${failed === 1 ? 'node gets' : 'nodes get'} ${to === '' ? 'the older revision' : to} back first.`,
    budget: (setting: string, nodes: number) =>
      `At most ${setting.endsWith('%') ? `${setting} = ` : ''}${nodes} ${nodes === 1 ? 'node is' : 'nodes are'} down at a time.`,
    offline: (offline: number) =>
      offline === 1
        ? '1 offline node is skipped until it returns.'
        : `${offline} offline nodes are skipped until they return.`,
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
    none: 'No rollout is recorded yet.',
    rollout: (number: number) => `Rollout ${number}`,
    results: {
      InProgress: 'In progress',
      Complete: 'Complete',
      Halted: 'Halted',
      RolledBack: 'Rolled back',
      Undone: 'Undone',
      Superseded: 'Superseded',
    },
    started: (when: string) => `started ${when}`,
    took: (time: string) => `took ${time}`,
    nodes: (nodes: number) => `reached ${nodes} ${nodes === 1 ? 'node' : 'nodes'}`,
    failures: (failures: number) => `${failures} failed`,
    changedBy: (manager: string) => `changed by ${manager}`,
    revision: (number: number) => `Revision ${number}`,
    revisions: (from: number, to: number) => `revision ${from} → ${to}`,
    passed: (when: string, how: string) => `passed ${when} (${how})`,
    notPassed: 'not passed',
    decided: {
      Approve: (by: string) => `approved by ${by}`,
      Promote: (by: string) => `promoted by ${by}`,
    },
    comment: (comment: string) => `: ${comment}`,
    revisionsTitle: 'Revisions',
    target: 'target',
    undoTo: (revision: number) => `Undo to revision ${revision}…`,
  },
};

export type Text = typeof en;
