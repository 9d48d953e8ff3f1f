import type { AgentBackend, Choice, DecideResult, HistoryEntry, PodRef, TextResponse } from '../../web/owner/types.ts';
import { decision, history, type Scene } from './fixtures.ts';

export interface Decided {
  app: string;
  revision: string;
  choice: Choice;
}

/** An agent that shows the given scene, records decisions, and responds as the test wants. */
export interface FakeBackend extends AgentBackend {
  readonly decided: readonly Decided[];
  readonly pulled: readonly PodRef[];
  show(scene: Scene): void;
  /** Sets the response to decisions. Default: 202. */
  answer(decide: (decided: Decided) => DecideResult | Promise<DecideResult>): void;
  answerPull(answer: TextResponse): void;
  remember(entries: readonly HistoryEntry[]): void;
}

export const createFakeBackend = (first: Scene): FakeBackend => {
  let scene = first;
  let entries = history;
  let pullAnswer: TextResponse = { status: 200, text: 'Image pre-pull requested' };
  let decide: (decided: Decided) => DecideResult | Promise<DecideResult> = () => ({
    kind: 'accepted',
    status: 202,
    decision: decision(),
  });
  const listeners = new Set<() => void>();
  const decided: Decided[] = [];
  const pulled: PodRef[] = [];
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    decided,
    pulled,
    show(next) {
      scene = next;
      changed();
    },
    answer(next) {
      decide = next;
    },
    answerPull(next) {
      pullAnswer = next;
    },
    remember(next) {
      entries = next;
      changed();
    },
    pods: () => ({ items: [], resourceVersion: '1', ageSeconds: 0 }),
    upgrade: async () => ({ status: 403, text: 'not part of this test' }),
    imagePull: async (pod) => {
      pulled.push(pod);
      return pullAnswer;
    },
    updates: () => scene.updates,
    decide: async ({ daemonSet }, revision, choice) => {
      const said = { app: daemonSet, revision, choice };
      decided.push(said);
      return decide(said);
    },
    history: () => entries,
    device: () => scene.device,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};
