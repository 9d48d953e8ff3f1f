import type { KubeClient } from '../../kube/index.ts';
import { daemonSets } from '../../resources/index.ts';
import type { Clock } from '../../runtime/index.ts';
import type { DemoAgent } from './agent.ts';
import { nodes } from './resources.ts';
import type { Witness } from './witness.ts';

/** The demo did not show what it is there to show. The message says what was expected, what was seen and in which step. */
export class DemoFailure extends Error {
  readonly code = 'DemoFailure';
  readonly expected: string;
  readonly seen: string;
  constructor(expected: string, seen: string, where = '') {
    super(`${where}expected ${expected}; saw ${seen}`);
    this.name = 'DemoFailure';
    this.expected = expected;
    this.seen = seen;
  }
}

export interface Expectation {
  /** Completes "expected ...". */
  that: string;
  test: () => boolean;
  /** Completes "saw ...". */
  seen: () => string;
}

/** What a step has to act with and to check by. */
export interface Stage {
  readonly client: KubeClient;
  readonly witness: Witness;
  /** Throws a `DemoFailure` unless the test holds now. */
  check(expectation: Expectation): void;
  /** Resolves once the test holds; rejects with a `DemoFailure` when it does not in time, or a rule is broken meanwhile. */
  expect(expectation: Expectation): Promise<void>;
  /** Rejects as soon as the test does not hold within the next `forMs` of the cluster's time. */
  expectStill(expectation: Expectation, forMs: number): Promise<void>;
  /** As `kubectl annotate node NAME edgeset.io/sim=offline` does. */
  offline(names: readonly string[]): Promise<void>;
  online(names: readonly string[]): Promise<void>;
  /** As `kubectl set image` does. */
  setImage(image: string): Promise<void>;
  /** The agent on a node: started when it is asked for first, ended with the demo. */
  agent(node: string): Promise<DemoAgent>;
  /** Keeps the present scene for the picture. */
  snapshot(caption: string): Promise<void>;
}

export interface StageOptions {
  client: KubeClient;
  clock: Clock;
  witness: Witness;
  daemonSet: { namespace: string; name: string; container: string };
  signal: AbortSignal;
  agent: (node: string) => Promise<DemoAgent>;
  snapshot: (caption: string) => Promise<void>;
}

/** Of the cluster's time: the slowest expectation takes a minute of it. */
const PATIENCE_MS = 4 * 60_000;
const POLL_MS = 500;
const FIELD_MANAGER = 'edgeset-demo';

export const createStage = (options: StageOptions): Stage => {
  const { client, clock, witness, daemonSet, signal } = options;

  /** Resolves at the next change, or after half a second of the cluster's time. */
  const next = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const finish = (settle: () => void) => (): void => {
        timer.cancel();
        ended();
        signal.removeEventListener('abort', stopped);
        settle();
      };
      const go = finish(resolve);
      const stopped = finish(() => reject(signal.reason));
      const timer = clock.timer(POLL_MS, go);
      const ended = witness.onChange(go);
      if (signal.aborted) stopped();
      else signal.addEventListener('abort', stopped, { once: true });
    });

  const keepRules = (): void => {
    witness.meter.look();
    const [breach] = witness.meter.breaches();
    if (breach !== undefined)
      throw new DemoFailure('the budget to hold and offline nodes to be left alone throughout', breach);
  };

  const power = async (names: readonly string[], value: 'offline' | null): Promise<void> => {
    const body = { metadata: { annotations: { 'edgeset.io/sim': value } } };
    const call = { type: 'merge', fieldManager: FIELD_MANAGER } as const;
    await Promise.all(names.map((name) => client.patch(nodes, { name }, body, call)));
  };

  return {
    client,
    witness,
    check({ that, test, seen }) {
      keepRules();
      if (!test()) throw new DemoFailure(that, seen());
    },
    async expect({ that, test, seen }) {
      const end = clock.now() + PATIENCE_MS;
      for (;;) {
        keepRules();
        if (test()) return;
        if (clock.now() >= end)
          throw new DemoFailure(`${that} within ${PATIENCE_MS / 60_000} minutes of the cluster's time`, seen());
        await next();
      }
    },
    async expectStill({ that, test, seen }, forMs) {
      for (const end = clock.now() + forMs; clock.now() < end; await next()) {
        keepRules();
        if (!test()) throw new DemoFailure(that, seen());
      }
    },
    offline: (names) => power(names, 'offline'),
    online: (names) => power(names, null),
    async setImage(image) {
      const { namespace, name, container } = daemonSet;
      const body = { spec: { template: { spec: { containers: [{ name: container, image }] } } } };
      await client.patch(daemonSets, { namespace, name }, body, { type: 'strategic', fieldManager: FIELD_MANAGER });
    },
    agent: options.agent,
    snapshot: options.snapshot,
  };
};
