/**
 * All texts of the page. A translation is a copy of this file with an entry in index.ts. The texts are for the person who
 * uses the device, so they contain no Kubernetes terms.
 */
export const en = {
  /** For screen readers: the app that a button belongs to, which is otherwise only visible. */
  forApp: (app: string) => ` (${app})`,
  /** Also determines the date format. */
  language: 'en-GB',
  title: 'Updates on this device',
  timeNote: (zone: string) => `All times are this device's own (${zone}).`,

  moment: {
    today: (time: string) => `today at ${time}`,
    tomorrow: (time: string) => `tomorrow at ${time}`,
    yesterday: (time: string) => `yesterday at ${time}`,
    other: (day: string, time: string) => `${day} at ${time}`,
  },

  connection: {
    label: 'Connection',
    online: 'Online',
    offline: 'Offline',
    unknown: 'No answer',
    offlineTitle: 'This device is offline',
    offlineSince: (since: string) => `No connection since ${since}. Your apps keep running.`,
    offlineWaits: 'You can still decide. Your decision is saved and carried out once the connection is back.',
  },

  agent: {
    loading: 'Looking for updates …',
    silentTitle: 'The update service on this device does not answer',
    silentSince: (since: string) => `No answer since ${since}. What you see below may be out of date.`,
    silentNever: 'The page could not reach it.',
    silentHelp: 'Your apps are not affected. The page tries again by itself.',
    forbiddenTitle: 'You do not have access to this page',
    forbidden: 'The update service does not know you. Ask your administrator for access to this device.',
    silentNote: 'You can decide again as soon as the update service answers.',
  },

  safe: {
    title: 'Not a good moment to update',
    text: (message: string) => `The device says: ${message}`,
    note: 'Updates wait until the device says it is safe.',
  },

  disk: {
    troubleTitle: 'Decisions cannot be saved on this device',
    trouble: 'Nothing is updated until this is fixed. Please tell your administrator, then decide again.',
    damageTitle: 'Some earlier decisions could not be read',
    damage: 'Please check each app below: you may have to decide again.',
    cause: (message: string) => `What the device says: ${message}`,
  },

  summary: {
    heading: 'Apps on this device',
    nothingNew: 'Everything is up to date',
    nothingNewText: 'There is nothing to decide. New versions appear here by themselves.',
    noApps: 'No apps yet',
    noAppsText: 'No app on this device is updated from this page yet.',
    nothingToDecide: 'There is nothing to decide',
    nothingToDecideText: 'A new version is not offered to this device yet. You will be asked when it is.',
    toDecide: (count: number) => (count === 1 ? 'One new version waits for you' : `${count} new versions wait for you`),
  },

  state: {
    current: 'Up to date',
    available: 'New version',
    postponed: 'Later',
    rejected: 'Declined',
    queued: 'Planned',
    updating: 'Updating',
    failed: 'Problem',
    halted: 'Withdrawn',
  },

  app: {
    installed: 'Installed',
    next: 'New',
    published: (when: string) => `Published ${when}.`,
    newUnknown: 'This device does not know the details of the new version yet.',
    arrow: 'becomes',
    added: 'new part',
    removed: 'removed',
    same: (names: string) => `Unchanged: ${names}`,
    withheld: 'Not yet',
    withheldHelp: 'There is a new version, but it is not offered to this device for now.',
    notRunning: 'The installed version is not running properly at the moment.',
    absent: 'The app is not running at the moment.',
    details: 'Technical details',
    updatedAt: (when: string) => `Updated ${when}.`,
    failed: 'The new version was installed, but does not run properly.',
    failedHelp: 'Please tell your administrator. You will be asked again when there is a better version.',
    halted: 'This version was stopped because it caused trouble on other devices.',
    haltedHelp: 'You do not have to do anything: the installed version stays until a better one is published.',
    lastTry: (what: string) => `Last attempt: ${what}`,
    detail: { revision: 'Revision', target: 'New revision', pod: 'Pod', namespace: 'Namespace', reason: 'State' },
  },

  download: {
    unknown: 'Not downloaded',
    pulling: 'Downloading …',
    ready: 'Downloaded and ready',
    failed: (why: string) => why || 'The new version could not be downloaded.',
    button: 'Download now',
    asked: 'The download was requested.',
  },

  deadline: {
    text: (when: string) => `Required by your administrator: installed ${when} at the latest.`,
    passed: (when: string) => `Required by your administrator since ${when}: installed as soon as possible.`,
  },

  choice: {
    legend: (app: string) => `When should ${app} be updated?`,
    now: 'Update now',
    nowHint: 'The app stops for a moment.',
    nowHintOffline: 'As soon as the device is online.',
    nowHintUnsafe: 'As soon as the device says it is safe.',
    tonight: 'Tonight',
    tonightHint: (from: string, to: string) => `Between ${from} and ${to}. If that fails, the next night.`,
    later: 'Later',
    laterHint: (when: string) => `Nothing happens now. You are asked again ${when}.`,
    laterHintDeadline: (when: string) => `Your administrator's deadline comes first: ${when}.`,
    reject: 'Not this version',
    change: 'Change',
    keep: 'Keep it',
    sending: 'One moment …',
  },

  confirm: {
    title: (app: string) => `Skip this version of ${app}?`,
    text: 'It is not installed, and you are not asked about it again. The next version is offered to you as usual. You can change your mind here at any time.',
    deadline: (when: string) => `Your administrator requires this version: it is installed ${when} anyway.`,
    yes: 'Skip this version',
    no: 'Go back',
  },

  decided: {
    now: 'You chose to update now.',
    window: (from: string, to: string) => `You chose to update at night, between ${from} and ${to}.`,
    windowDays: (from: string, to: string, days: string) =>
      `You chose to update between ${from} and ${to}, on ${days}.`,
    safe: 'You chose to update as soon as the device says it is safe.',
    postponed: (when: string) => `You postponed the decision. You are asked again ${when}.`,
    rejected: 'You declined this version. The installed one stays.',
    deadline: "This update is due because of your administrator's deadline.",
    at: (when: string) => `Decided ${when}.`,
  },

  days: {
    mon: 'Monday',
    tue: 'Tuesday',
    wed: 'Wednesday',
    thu: 'Thursday',
    fri: 'Friday',
    sat: 'Saturday',
    sun: 'Sunday',
  },

  steps: {
    label: (app: string) => `Progress of ${app}`,
    decided: 'Decided',
    done: 'done',
    current: 'in progress',
    ahead: 'still to come',
    failed: 'failed',
    waitConnection: 'Waiting for the connection',
    waitWindow: 'Waiting for the agreed time',
    waitSafe: 'Waiting until the device says it is safe',
    waitImage: 'Waiting for the download',
    /** By the agent's reason. */
    waits: {
      Disconnected: 'Waiting for the connection',
      OutsideWindow: 'Waiting for the agreed time',
      NotSafe: 'Waiting until the device says it is safe',
      ImageNotReady: 'Waiting for the download',
    } as Readonly<Record<string, string>>,
    /** By reason, while the new version is not offered to this device. */
    withheld: {
      Paused: 'Waiting until the update continues on all devices',
      Partition: "Waiting for this device's turn",
      NodeSelector: 'Waiting until it is offered to this device',
      NodeNotEligible: 'Waiting until the app can start on this device',
      NotOffered: 'Waiting until it is offered to this device',
    } as Readonly<Record<string, string>>,
    waitOther: 'Waiting to start',
    waited: 'Ready to start',
    stopping: 'Stopping the old version',
    stopped: 'Old version stopped',
    starting: 'Starting the new version',
    started: 'New version started',
    running: 'New version is running',
    broken: 'New version does not run properly',
  },

  notice: {
    close: 'Close',
    accepted: (app: string) => `${app}: your decision is saved.`,
    acceptedOffline: (app: string) => `${app}: your decision is saved on the device and carried out once it is online.`,
    conflict: (app: string) =>
      `${app}: something changed in the meantime, so your decision was not saved. Please check again, then decide.`,
    forbidden: (app: string, why: string) => `${app}: that is not possible right now. ${why}`,
    notAllowed: 'You are not allowed to decide on this device. Ask your administrator for access.',
    gone: (app: string) => `${app} is no longer on this device.`,
    tooMany: 'Too many requests at once. Wait a moment, then try again.',
    unreachable: (app: string) =>
      `${app}: the update service did not answer, so your decision may not have been saved. Please check again in a moment.`,
    failed: (app: string, why: string) => `${app}: that did not work. ${why}`,
    downloadFailed: (app: string, why: string) => `${app}: the download could not be started. ${why}`,
  },

  live: {
    state: (app: string, what: string) => `${app}: ${what}`,
  },

  history: {
    heading: 'History',
    empty: 'Nothing has been decided or changed on this device yet.',
    all: (count: number) => `Show all ${count}`,
    fewer: 'Show fewer',
    what: {
      Approved: 'Update approved',
      Postponed: 'Postponed',
      Rejected: 'Version declined',
      Deleting: 'Update started',
      Approving: 'Update started',
      Deleted: 'Old version stopped',
      Updated: 'Updated',
      Failed: 'Update failed',
      Refused: 'Update not possible',
      Superseded: 'Replaced by a newer version',
      Replaced: 'Decision changed',
      OutcomeUnknown: 'Outcome unknown',
      DeadlineReached: "Administrator's deadline reached",
    } as Readonly<Record<string, string>>,
    who: {
      agent: 'by the device itself',
      person: 'on this device',
    },
  },
};

export type Text = typeof en;
