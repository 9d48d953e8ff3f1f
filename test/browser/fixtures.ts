import type { Decision, DeviceStatus, HistoryEntry, Update } from '../../web/owner/types.ts';

/** A Saturday, 17:20 local time of the device. Fixed, so that pictures are reproducible. */
export const NOW = '2026-11-21T16:20:00Z';

export const device = (changes: Partial<DeviceStatus> = {}): DeviceStatus => ({
  node: 'bus-17',
  displayName: null,
  administrator: null,
  now: NOW,
  timeZone: 'Europe/Berlin',
  connected: true,
  since: '2026-11-21T05:02:00Z',
  lastContact: NOW,
  safe: { configured: false, safe: null, message: '' },
  disk: { trouble: null, damage: null },
  ...changes,
});

const image = (version: string) => [{ container: 'app', image: `registry.example/fleet/ticketing:${version}` }];

type Choices = Update['choices'];

export const every: Choices = { approve: true, postpone: true, reject: true, tonight: { from: '02:00', to: '05:00' } };
/** With a deadline, a version can't be declined. */
const required: Choices = { ...every, reject: false };
export const none: Choices = { approve: false, postpone: false, reject: false, tonight: null };

export const update = (changes: Partial<Update> = {}): Update => ({
  apiVersion: 'apps/v1',
  namespace: 'default',
  daemonSet: 'ticketing',
  pod: 'ticketing-x7k2p',
  state: 'available',
  reason: 'NewRevision',
  message: 'A new version is available.',
  running: { revision: '5d4b8c7f9', images: image('2.3.1'), ready: true },
  target: { revision: '7c9f6d5b8', images: image('2.4.0'), publishedAt: '2026-11-20T13:05:00Z', notes: null },
  image: { state: 'unknown', message: '' },
  size: { running: null, target: null },
  decision: null,
  choices: every,
  deadline: null,
  ...changes,
});

export const decision = (changes: Partial<Decision> = {}): Decision => ({
  id: 1,
  namespace: 'default',
  daemonSet: 'ticketing',
  revision: '7c9f6d5b8',
  decision: { choice: 'approve', when: { type: 'now' } },
  by: { identity: 'uid:0', via: 'loopback' },
  at: '2026-11-21T16:18:00Z',
  state: 'open',
  ...changes,
});

const act: Decision['act'] = {
  kind: 'delete',
  pod: 'ticketing-x7k2p',
  podUid: 'a',
  fromRevision: '5d4b8c7f9',
  toRevision: '7c9f6d5b8',
  startedAt: NOW,
};

const GERMAN_NOTES = 'Tickets drucken doppelt so schnell.\nTageskarte auf der ersten Seite.';
const NOTES = 'Tickets print twice as fast.\nThe day pass is on the first screen.';

/** What an administrator, or whoever took their place, could write. */
export const HOSTILE =
  '<img src=x onerror="document.title=1"><script>document.title = 1</script></p><a href="javascript:alert(1)">Update now</a> &lt;b&gt; ${1} {{1}}';

/** A second app on the device. */
const other = update({
  daemonSet: 'passenger-display',
  pod: 'passenger-display-m4q9z',
  state: 'current',
  reason: 'UpToDate',
  message: 'This device runs the latest version.',
  choices: none,
  running: {
    revision: '66f7b9c4d',
    images: [{ container: 'display', image: 'registry.example/fleet/display:8.0.2' }],
    ready: true,
  },
  target: { revision: '66f7b9c4d', images: null, publishedAt: null, notes: null },
});

export const history: readonly HistoryEntry[] = [
  {
    at: '2026-11-14T02:04:00Z',
    namespace: 'default',
    daemonSet: 'ticketing',
    who: 'agent',
    what: 'Updated',
    tookSeconds: 140,
    fromRevision: '5b8d7f6c4',
    toRevision: '5d4b8c7f9',
    result: 'The new version runs since 03:04.',
  },
  {
    at: '2026-11-13T16:41:00Z',
    namespace: 'default',
    daemonSet: 'ticketing',
    who: 'uid:0',
    what: 'Approved',
    choice: { choice: 'approve', when: { type: 'window', from: '02:00', to: '05:00' } },
    fromRevision: '5b8d7f6c4',
    toRevision: '5d4b8c7f9',
    result: 'Agreed to the update between 02:00 and 05:00.',
  },
];

export interface Scene {
  device: DeviceStatus;
  updates: readonly Update[];
}

const after = { revision: '7c9f6d5b8', images: image('2.4.0'), ready: true };
const settled = { ...decision({ state: 'done', act, result: 'The new version runs.' }), settledAt: NOW };

const scene = (changes: Partial<Update>, ofDevice: Partial<DeviceStatus> = {}): Scene => ({
  device: device(ofDevice),
  updates: [update(changes), other],
});

const offline = { connected: false, since: '2026-11-21T13:48:00Z', lastContact: '2026-11-21T13:47:52Z' } as const;
const dueOn = (day: string) => ({ at: `${day}T17:00:00Z`, actsAt: `${day}T17:34:00Z`, first: false });
const tonight = { choice: 'approve', when: { type: 'window', from: '02:00', to: '05:00' } } as const;

const broken: Partial<Update> = {
  pod: 'ticketing-q5w8r',
  state: 'failed',
  choices: none,
  reason: 'CrashLoop',
  message: 'The program ends again and again right after its start.',
  running: { ...after, ready: false },
  decision: settled,
};
const named = { displayName: 'Bus 17, Großmühlstraße depot', administrator: '+49 30 1234567' } as const;

/** Every state of the page. */
export const scenes = {
  current: { device: device(), updates: [other] },
  empty: { device: device(), updates: [] },
  available: scene({}),
  notes: scene({ target: { ...update().target, notes: NOTES } }),
  germanNotes: scene({ target: { ...update().target, notes: GERMAN_NOTES } }),
  longNotes: scene({
    target: { ...update().target, notes: `${NOTES}\n${'A long list of small things. '.repeat(20)}` },
  }),
  hostileNotes: scene({ target: { ...update().target, notes: HOSTILE } }),
  sized: scene({ size: { running: 47_900_000, target: null } }),
  downloaded: scene({ image: { state: 'ready', message: '' }, size: { running: 47_900_000, target: 1_240_000_000 } }),
  downloading: scene({ image: { state: 'pulling', message: '' } }),
  downloadFailed: scene({
    image: { state: 'failed', message: 'The new version could not be downloaded. There is not enough space.' },
  }),
  deadline: scene({ deadline: dueOn('2026-11-23'), choices: required }),
  deadlineTonight: scene({ deadline: dueOn('2026-11-21'), choices: { ...required, tonight: null } }),
  overtaken: scene({
    state: 'queued',
    reason: 'OutsideWindow',
    decision: decision({ decision: tonight }),
    deadline: { ...dueOn('2026-11-21'), first: true },
    choices: { ...required, tonight: null },
  }),
  availableOffline: scene({}, offline),
  unknownTarget: scene({ target: { revision: '7c9f6d5b8', images: null, publishedAt: null, notes: null } }, offline),
  unsafe: scene({}, { safe: { configured: true, safe: false, message: 'the engine is running' } }),
  queuedOffline: scene(
    {
      state: 'queued',
      reason: 'Disconnected',
      message: 'The update starts once the device is online.',
      decision: decision(),
    },
    offline,
  ),
  queuedWindow: scene({
    state: 'queued',
    reason: 'OutsideWindow',
    message: 'The update starts between 02:00 and 05:00.',
    image: { state: 'ready', message: '' },
    decision: decision({ decision: tonight }),
  }),
  queuedUnsafe: scene(
    { state: 'queued', reason: 'NotSafe', message: 'The device says: the engine is running.', decision: decision() },
    { safe: { configured: true, safe: false, message: 'the engine is running' } },
  ),
  unkept: scene(
    {},
    {
      disk: {
        trouble: 'cannot save to /var/lib/edgeset-agent/decisions.json: the disk is full: free some space on it',
        damage: null,
      },
    },
  ),
  damaged: scene({}, { disk: { trouble: null, damage: '2 records could not be read' } }),
  postponed: scene({
    state: 'postponed',
    reason: 'Postponed',
    decision: decision({ id: 2, decision: { choice: 'postpone', until: '2026-11-22T17:00:00Z' } }),
  }),
  rejected: scene({
    state: 'rejected',
    reason: 'Rejected',
    decision: decision({ id: 3, decision: { choice: 'reject' } }),
  }),
  stopping: scene({
    state: 'updating',
    choices: none,
    reason: 'Stopping',
    message: 'The old version is being stopped.',
    decision: decision({ state: 'acting', act }),
  }),
  starting: scene({
    pod: null,
    state: 'updating',
    choices: none,
    reason: 'Starting',
    message: 'The new version is being started.',
    decision: decision({ state: 'acting', act }),
  }),
  done: scene({
    pod: 'ticketing-q5w8r',
    state: 'current',
    choices: none,
    reason: 'UpToDate',
    running: after,
  }),
  failed: scene(broken),
  named: scene({}, named),
  failedNamed: scene({ ...broken }, named),
  unknownCode: scene(
    { state: 'unknown', reason: 'NotComputable', message: 'It can not be computed.', choices: none },
    { ...named, administrator: 'Code 4711 at the counter' },
  ),
  unkeptNamed: scene(
    {},
    { ...named, administrator: 'https://example.org/fleet/help', disk: { trouble: 'the disk is full', damage: null } },
  ),
  withheld: scene({
    state: 'current',
    choices: none,
    reason: 'Partition',
    message: 'There is a new version, but it is not offered to this device for now.',
  }),
  queuedWithheld: scene({
    state: 'queued',
    reason: 'Paused',
    message: 'The update is paused on all devices; what was decided is kept, and holds again when the pause ends.',
    decision: decision(),
  }),
  halted: scene({
    state: 'halted',
    choices: { ...none, postpone: true, reject: true },
    reason: 'Halted',
    message: 'This version was stopped in the whole fleet.',
  }),
  unknown: scene({
    state: 'unknown',
    reason: 'NotComputable',
    message: 'The agent can not compute the state of this update, so nothing is done: pod ticketing-1 cannot be read.',
    decision: decision(),
  }),
  refused: scene({
    decision: { ...decision({ state: 'refused', result: 'The cluster refused to replace the app.' }), settledAt: NOW },
  }),
  manyParts: {
    device: device(),
    updates: [
      update({
        namespace: 'shop',
        daemonSet: 'till',
        running: {
          revision: 'a',
          ready: false,
          images: [
            { container: 'till', image: 'shop.example:5000/till/app-with-a-rather-long-name:2026.11.1-rc.3' },
            { container: 'proxy', image: 'envoy:1.36' },
            { container: 'old', image: 'cleaner:1' },
          ],
        },
        target: {
          revision: 'b',
          publishedAt: NOW,
          notes: null,
          images: [
            { container: 'till', image: 'shop.example:5000/till/app-with-a-rather-long-name:2026.11.2' },
            { container: 'proxy', image: 'envoy:1.36' },
            { container: 'new', image: `metrics@sha256:${'0123456789abcdef'.repeat(4)}` },
          ],
        },
      }),
      update({ namespace: 'test', daemonSet: 'till' }),
    ],
  },
} satisfies Readonly<Record<string, Scene>>;

export type SceneName = keyof typeof scenes;

/** The scene with a title of its own, which shows when the page has it. */
export const titled = ({ device: shown, updates }: Scene, title: string): Scene => {
  const displayName = shown.displayName === null ? null : `${title}: ${shown.displayName}`;
  return { device: { ...shown, node: title, displayName }, updates };
};
