import type { AgentBackend, Caller, Decision, HistoryEntry, PodRef, Update } from '../../types.ts';

export const shopUpdate: Update = {
  namespace: 'shop',
  daemonSet: 'till',
  apiVersion: 'apps/v1',
  pod: 'till-x7k2p',
  state: 'available',
  reason: 'NewRevision',
  message: 'A new version is here.',
  running: { revision: '5d4f', images: [{ container: 'till', image: 'example.org/till:1' }], ready: true },
  target: {
    revision: '7d9c',
    images: [{ container: 'till', image: 'example.org/till:2' }],
    publishedAt: '2026-11-20T10:00:00Z',
    notes: 'Receipts print faster.\nThe clock is right again.',
  },
  image: { state: 'ready', message: 'The images are here.' },
  size: { running: 48_000_000, target: null },
  decision: null,
  choices: { approve: true, postpone: true, reject: false, tonight: { from: '02:00', to: '05:00' } },
  deadline: { at: '2026-12-01T00:00:00Z', actsAt: '2026-12-01T00:20:00Z', first: false },
};

const lastEntry: HistoryEntry = {
  namespace: 'shop',
  daemonSet: 'till',
  at: '2026-11-19T08:00:00Z',
  who: 'uid:0',
  what: 'Updated',
  fromRevision: null,
  toRevision: '5d4f',
  result: 'The new pod is ready.',
};

export interface FakeBackend extends AgentBackend {
  /** The operations that were carried out, in order, without refused calls. */
  readonly operations: string[];
  /** Runs before `reauthorize`, to simulate what happens between the request and the operation. */
  beforeReauthorize: () => Promise<void>;
  changed(): void;
  /** Results of the next calls, in place of the default ones. */
  next: {
    upgrade?: Awaited<ReturnType<AgentBackend['upgrade']>>;
    decide?: Awaited<ReturnType<AgentBackend['decide']>>;
    fail?: Error;
  };
  items: object[];
}

/** A fake agent: records what allowed callers request. */
export const createFakeBackend = (): FakeBackend => {
  const listeners = new Set<() => void>();
  const decisionOf = (by: Caller, revision: string, choice: Decision['decision'], id: number): Decision => ({
    id,
    namespace: 'shop',
    daemonSet: 'till',
    revision,
    decision: choice,
    by,
    at: '2026-11-21T17:00:00Z',
    state: 'open',
  });
  const check = (): void => {
    if (backend.next.fail !== undefined) throw backend.next.fail;
  };
  const backend: FakeBackend = {
    operations: [],
    items: [{ kind: 'Pod', metadata: { name: 'till-x7k2p', namespace: 'shop' } }],
    next: {},
    beforeReauthorize: () => Promise.resolve(),
    changed: () => {
      for (const listener of listeners) listener();
    },
    pods() {
      check();
      return { items: backend.items, resourceVersion: '42', ageSeconds: 1.2 };
    },
    async upgrade({ namespace, name }: PodRef, caller, { queue, reauthorize }) {
      check();
      await backend.beforeReauthorize();
      const refusal = await reauthorize();
      if (refusal !== undefined) return { status: 403, text: refusal };
      if (backend.next.upgrade !== undefined) return backend.next.upgrade;
      backend.operations.push(`upgrade ${namespace}/${name} by ${caller.identity}`);
      return queue
        ? { status: 202, text: `Queued updating pod ${namespace}/${name}` }
        : { status: 200, text: `Start updating pod ${namespace}/${name}` };
    },
    async imagePull({ namespace, name }, caller) {
      check();
      if (backend.next.upgrade !== undefined) return backend.next.upgrade;
      backend.operations.push(`pull ${namespace}/${name} by ${caller.identity}`);
      return { status: 200, text: `Image pre-pull requested for pod ${namespace}/${name}` };
    },
    updates() {
      check();
      return [shopUpdate, { ...shopUpdate, daemonSet: 'idle', state: 'current', pod: null, deadline: null }];
    },
    async decide(target, revision, choice, caller, reauthorize) {
      check();
      await backend.beforeReauthorize();
      const refusal = await reauthorize();
      if (refusal !== undefined) return { kind: 'refused', status: 403, reason: 'CallerGone', message: refusal };
      if (backend.next.decide !== undefined) return backend.next.decide;
      backend.operations.push(`${choice.choice} ${target.namespace}/${target.daemonSet} by ${caller.identity}`);
      const decision = decisionOf(caller, revision, choice, backend.operations.length);
      return { kind: 'accepted', status: choice.choice === 'approve' ? 202 : 201, decision };
    },
    history() {
      check();
      return [lastEntry];
    },
    device() {
      check();
      return {
        node: 'node-1',
        displayName: 'Shop 17',
        administrator: '+49 30 1234567',
        now: '2026-11-21T17:00:00Z',
        timeZone: 'Europe/Berlin',
        connected: true,
        since: '2026-11-21T16:00:00Z',
        lastContact: null,
        safe: { configured: false, safe: null, message: '' },
        disk: { trouble: null, damage: null },
      };
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return backend;
};
