/**
 * All texts of the page. The other languages are copies of this file: a text that is missing there is an error of the
 * compiler. The texts are for the person who uses the device, so they contain no Kubernetes terms. Dates, durations and
 * sizes come from view/, in the same language.
 */
export const en = {
  /** The tag of the page and of its dates. */
  language: 'en-GB',
  /** In the language itself, for the switch. */
  name: 'English',
  title: 'Updates on this device',
  /** For screen readers: the app that a button belongs to, which is otherwise only visible. */
  forApp: (app: string) => ` (${app})`,
  chooseLanguage: 'Language',
  administrator: 'Your administrator:',
  /** Below a name that people gave the device. */
  nodeNote: (node: string) => `Your administrator's systems call this device ${node}.`,
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
    cause: 'For your administrator:',
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
    unknown: 'Unclear',
  },

  app: {
    installed: 'Installed',
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
    updatedAt: (when: string) => `Updated ${when}.`,
    failed: 'The new version was installed, but does not run properly.',
    failedHelp: 'Please tell your administrator. You will be asked again when there is a better version.',
    halted: 'This version was stopped because it caused trouble on other devices.',
    haltedHelp: 'You do not have to do anything: the installed version stays until a better one is published.',
    unknown: 'This device cannot tell at the moment what the state of this app is, so nothing is updated.',
    unknownHelp: 'It tries again by itself. If this stays, please tell your administrator.',
    unknownKept: 'Your decision is kept.',
    lastTry: 'The last attempt did not work.',
    details: 'Technical details',
    detail: {
      revision: 'Revision',
      pod: 'Pod',
      namespace: 'Namespace',
      reason: 'State',
      download: 'Download',
      lastTry: 'Last attempt',
    },
  },

  notes: {
    title: 'What is new',
    more: 'Show all',
    less: 'Show less',
  },

  download: {
    unknown: 'Not downloaded',
    pulling: 'Downloading …',
    ready: 'Downloaded and ready',
    failed: 'The new version could not be downloaded.',
    installed: (size: string) => `Installed: ${size}`,
    size: (size: string) => `Size: ${size}`,
    button: 'Download now',
  },

  deadline: {
    text: (when: string) => `Required by your administrator: installed ${when} at the latest.`,
    passed: (when: string) => `Required by your administrator since ${when}: installed as soon as possible.`,
  },

  choice: {
    legend: (app: string) => `When should ${app} be updated?`,
    now: 'Update now',
    nowHint: 'The app stops for a moment.',
    nowHintTook: (duration: string) => `Took about ${duration} last time.`,
    nowHintOffline: 'As soon as the device is online.',
    nowHintUnsafe: 'As soon as the device says it is safe.',
    tonight: 'Tonight',
    tonightHint: (from: string, to: string) => `Between ${from} and ${to}.`,
    later: 'Later',
    laterHint: (when: string) => `Asks again ${when}.`,
    laterHintDeadline: (when: string) => `Your administrator's deadline comes first: ${when}.`,
    reject: 'Not this version',
    change: 'Change',
    keep: 'Keep it',
    sending: 'One moment …',
  },

  confirm: {
    title: (app: string) => `Skip this version of ${app}?`,
    text: 'It is not installed, and you are not asked about it again. The next version is offered to you as usual. You can change your mind here at any time.',
    yes: 'Skip this version',
    no: 'Go back',
  },

  decided: {
    now: 'You chose to update now.',
    window: (from: string, to: string) =>
      `You chose to update at night, between ${from} and ${to}. If that fails, the next night.`,
    windowDays: (from: string, to: string, days: string) =>
      `You chose to update between ${from} and ${to}, on ${days}.`,
    safe: 'You chose to update as soon as the device says it is safe.',
    postponed: (when: string) => `You postponed the decision. You are asked again ${when}.`,
    rejected: 'You declined this version. The installed one stays.',
    overtaken: (when: string) => `You have decided, but your administrator's deadline comes first: ${when}.`,
    deadline: "This update is due because of your administrator's deadline.",
    at: (when: string) => `Decided ${when}.`,
  },

  steps: {
    label: (app: string) => `Progress of ${app}`,
    decided: 'Decided',
    done: 'done',
    current: 'in progress',
    ahead: 'still to come',
    failed: 'failed',
    /** What an approved update waits for, see view/reasons.ts. */
    waits: {
      connection: 'Waiting for the connection',
      window: 'Waiting for the agreed time',
      safe: 'Waiting for a safe moment',
      download: 'Waiting for the download',
      pause: 'Paused on all devices',
      turn: "Waiting for this device's turn",
      offer: 'Waiting for the offer',
      node: 'Waiting until it can start here',
      retry: 'Waiting for the next attempt',
      decision: 'Waiting for your decision',
      start: 'Waiting to start',
    },
    kept: 'Your decision is kept until then.',
    retried: 'The last attempt did not work. The device tries again by itself.',
    decideAgain: 'The device can no longer tell when it is safe. Please choose another time.',
    unsure: 'The device is checking whether the update has started.',
    preparing: 'The old version is preparing to stop.',
    waited: 'Ready to start',
    stopping: 'Stopping the old version',
    stopped: 'Old version stopped',
    starting: 'Starting the new version',
    started: 'New version started',
    running: 'New version is running',
    broken: 'New version does not run',
  },

  failures: {
    CrashLoop: 'It stops again and again right after its start.',
    ImageCannotBePulled: 'It could not be downloaded.',
    NotReadyInTime: 'It was not ready in time.',
  },

  notice: {
    close: 'Close',
    conflict: (app: string) =>
      `${app}: something changed in the meantime, so your decision was not saved. Please check again, then decide.`,
    halted: (app: string) => `${app}: this version was withdrawn, so it is not installed.`,
    notAllowed: 'You are not allowed to decide on this device. Ask your administrator for access.',
    gone: (app: string) => `${app} is no longer on this device.`,
    tooMany: 'Too many requests at once. Wait a moment, then try again.',
    unreachable: (app: string) =>
      `${app}: the update service did not answer, so your decision may not have been saved. Please check again in a moment.`,
    notSaved: (app: string) =>
      `${app}: your decision could not be saved on this device. Please tell your administrator.`,
    failed: (app: string, code: number) =>
      `${app}: that did not work (error ${code}). Please try again, or tell your administrator.`,
    download: (app: string) => `${app}: the download could not be started. Please try again later.`,
    downloadOffline: (app: string) => `${app}: the download could not be started, because the device is offline.`,
  },

  live: {
    state: (app: string, what: string) => `${app}: ${what}`,
    all: (news: readonly string[]) => `${news.join('. ')}.`,
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
      NotCarriedOut: 'Update not started',
      Superseded: 'Replaced by a newer version',
      Replaced: 'Decision changed',
      OutcomeUnknown: 'Outcome unknown',
      DeadlineReached: "Administrator's deadline reached",
    },
    other: 'Something changed',
    at: 'At once.',
    window: (from: string, to: string) => `Between ${from} and ${to}.`,
    safe: 'As soon as the device says it is safe.',
    until: (when: string) => `Asks again ${when}.`,
    took: (duration: string) => `Took ${duration}.`,
    byDevice: 'by the device itself',
    byPerson: 'on this device',
  },
};

export type Text = typeof en;
