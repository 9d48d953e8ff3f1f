import { batch, computed, type ReadonlySignal, signal } from '@preact/signals';
import { decide, follow, type Outcome, pullImages, readDevice, readHistory, readUpdates, type State } from './api.ts';
import type { Text } from './text/index.ts';
import type { Choice, DeviceStatus, HistoryEntry, Update } from './types.ts';
import { createMoments, type Moments } from './view/moment.ts';
import { usableZone } from './view/zone.ts';

/** Whether the page shows the agent's current state. */
export type Link = 'loading' | 'live' | 'silent' | 'forbidden';

export type Doing = 'now' | 'tonight' | 'later' | 'reject' | 'download';

/** In the language that is chosen when it is shown. */
interface Notice {
  say: (text: Text) => string;
  /** Only the administrator can help. */
  forAdministrator?: true;
}

export interface Store {
  /** In the reader's language: a component that reads it is drawn again when the language changes. */
  readonly text: Text;
  useLanguage(text: Text): void;
  link: ReadonlySignal<Link>;
  /** By this browser's clock; null if the agent never responded. */
  silentSince: ReadonlySignal<number | null>;
  device: ReadonlySignal<DeviceStatus | null>;
  updates: ReadonlySignal<readonly Update[]>;
  history: ReadonlySignal<readonly HistoryEntry[]>;
  /** The device's clock. The browser's clock may be wrong and is not used for decisions. */
  now: ReadonlySignal<number>;
  timeZone: ReadonlySignal<string>;
  moments: ReadonlySignal<Moments>;
  /** When the running version of an app was installed, if the history still shows it. */
  doneAt(update: Update): number;
  /** How long the last update of an app took, in seconds, if the agent knows and the history still shows it. */
  tookSeconds(update: Update): number | undefined;
  /** Requests without response yet, by app. */
  doing: ReadonlySignal<ReadonlyMap<string, Doing>>;
  /** What to tell the owner about the last request, by app. */
  notices: ReadonlySignal<ReadonlyMap<string, Notice>>;
  choose(update: Update, revision: string, name: Doing, choice: Choice): Promise<void>;
  download(update: Update): Promise<void>;
  dismiss(key: string): void;
  start(): void;
}

export const keyOf = ({ namespace, daemonSet }: { namespace: string; daemonSet: string }): string =>
  `${namespace}/${daemonSet}`;

const CLOCK_MS = 15_000;
/** The second click of a double click must not hit the element that replaced the button. */
const SETTLE_MS = 600;

const delay = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

const without = <T>(map: ReadonlyMap<string, T>, key: string): ReadonlyMap<string, T> =>
  new Map([...map].filter(([other]) => other !== key));

type Failed = Exclude<Outcome, { kind: 'ok' }>;

const noticeOf = (app: string, outcome: Failed): Notice => {
  if (outcome.kind === 'silent') return { say: ({ notice }) => notice.unreachable(app) };
  const { status, cause } = outcome;
  if (cause === 'Halted') return { say: ({ notice }) => notice.halted(app) };
  switch (status) {
    case 409:
      return { say: ({ notice }) => notice.conflict(app) };
    case 404:
      return { say: ({ notice }) => notice.gone(app) };
    case 401:
    case 403:
      return { say: ({ notice }) => notice.notAllowed, forAdministrator: true };
    case 429:
      return { say: ({ notice }) => notice.tooMany };
    case 503:
    case 507:
      return { say: ({ notice }) => notice.notSaved(app), forAdministrator: true };
    default:
      return { say: ({ notice }) => notice.failed(app, status), forAdministrator: true };
  }
};

const downloadNotice = (app: string, outcome: Failed): Notice =>
  outcome.kind === 'refused' && outcome.status === 503
    ? { say: ({ notice }) => notice.downloadOffline(app) }
    : { say: ({ notice }) => notice.download(app) };

export const createStore = (first: Text): Store => {
  const text = signal(first);
  const link = signal<Link>('loading');
  const silentSince = signal<number | null>(null);
  const device = signal<DeviceStatus | null>(null);
  const updates = signal<readonly Update[]>([]);
  const history = signal<readonly HistoryEntry[]>([]);
  const now = signal(Date.now());
  const doing = signal<ReadonlyMap<string, Doing>>(new Map());
  const notices = signal<ReadonlyMap<string, Notice>>(new Map());
  const timeZone = computed(() => usableZone(device.value?.timeZone ?? 'UTC'));
  const moments = computed(() => createMoments(text.value, timeZone.value, now.value));
  let heard = { deviceTime: Date.now(), at: performance.now() };

  const tick = (): void => {
    now.value = heard.deviceTime + performance.now() - heard.at;
  };

  const setDevice = (value: DeviceStatus): void => {
    heard = { deviceTime: Date.parse(value.now), at: performance.now() };
    tick();
    device.value = value;
    link.value = 'live';
    silentSince.value = null;
  };

  const onSilence = (): void => {
    if (link.value === 'silent' || link.value === 'forbidden') return;
    batch(() => {
      silentSince.value = device.value === null ? null : now.value;
      link.value = 'silent';
    });
  };

  const onFailedRead = (read: Failed): void => {
    if (read.kind === 'refused' && (read.status === 401 || read.status === 403)) link.value = 'forbidden';
    else onSilence();
  };

  let readingHistory = false;
  let historyChanged = false;
  const refreshHistory = async (): Promise<void> => {
    historyChanged = true;
    if (readingHistory) return;
    readingHistory = true;
    // What changes during a read may be missing from it.
    while (historyChanged) {
      historyChanged = false;
      const read = await readHistory();
      if (read.kind === 'ok') history.value = read.value.items;
    }
    readingHistory = false;
  };

  const onState = (state: State): void => {
    batch(() => {
      setDevice(state.device);
      updates.value = state.updates;
    });
    void refreshHistory();
  };

  let events = 0;
  const onEvent = (state: State): void => {
    events += 1;
    onState(state);
  };

  /** Reads at once what the events would deliver later. */
  const refresh = async (): Promise<void> => {
    const before = events;
    const [ofDevice, ofUpdates] = await Promise.all([readDevice(), readUpdates()]);
    // An event that came meanwhile may be newer, and a later one tells what it lacks.
    if (events !== before) return;
    if (ofDevice.kind === 'ok' && ofUpdates.kind === 'ok') {
      onState({ device: ofDevice.value, updates: ofUpdates.value.items });
    } else onFailedRead(ofDevice.kind === 'ok' ? (ofUpdates.kind === 'ok' ? { kind: 'silent' } : ofUpdates) : ofDevice);
  };

  /** An agent that hangs keeps its connections open: only a request shows it. */
  const probe = async (): Promise<void> => {
    const read = await readDevice();
    if (read.kind !== 'ok') onFailedRead(read);
    else if (link.value === 'live') setDevice(read.value);
    else await refresh();
  };

  const press = async (key: string, name: Doing, act: () => Promise<Notice | undefined>): Promise<void> => {
    if (doing.value.has(key)) return;
    batch(() => {
      doing.value = new Map(doing.value).set(key, name);
      notices.value = without(notices.value, key);
    });
    const [problem] = await Promise.all([act(), delay(SETTLE_MS)]);
    await refresh();
    batch(() => {
      doing.value = without(doing.value, key);
      if (problem !== undefined) notices.value = new Map(notices.value).set(key, problem);
    });
  };

  return {
    get text() {
      return text.value;
    },
    useLanguage(next) {
      text.value = next;
    },
    link,
    silentSince,
    device,
    updates,
    history,
    now,
    timeZone,
    moments,
    doing,
    notices,
    doneAt({ namespace, daemonSet, running }) {
      const entry = history.value.find(
        (each) =>
          each.namespace === namespace &&
          each.daemonSet === daemonSet &&
          each.what === 'Updated' &&
          each.toRevision === running.revision,
      );
      return Date.parse(entry?.at ?? '');
    },
    tookSeconds: ({ namespace, daemonSet }) =>
      history.value.find(
        (each) => each.namespace === namespace && each.daemonSet === daemonSet && each.tookSeconds !== undefined,
      )?.tookSeconds,
    choose: (update, revision, name, choice) =>
      press(keyOf(update), name, async () => {
        const outcome = await decide(update, revision, choice);
        return outcome.kind === 'ok' ? undefined : noticeOf(update.daemonSet, outcome);
      }),
    download: (update) =>
      press(keyOf(update), 'download', async () => {
        if (update.pod === null) return { say: ({ notice }) => notice.download(update.daemonSet) };
        const outcome = await pullImages(update.namespace, update.pod);
        return outcome.kind === 'ok' ? undefined : downloadNotice(update.daemonSet, outcome);
      }),
    dismiss(key) {
      notices.value = without(notices.value, key);
    },
    start() {
      follow(onEvent, () => void probe());
      void refresh();
      setInterval(tick, CLOCK_MS);
      // A hidden page sends no requests.
      const look = (): void => {
        if (document.visibilityState === 'visible') void probe();
      };
      setInterval(look, CLOCK_MS);
      document.addEventListener('visibilitychange', look);
    },
  };
};
