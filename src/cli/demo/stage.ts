import type { KubeClient } from '../../kube/index.ts';
import type { Clock } from '../../runtime/index.ts';
import type { DemoAgent } from './agent.ts';
import type { DemoKind } from './kinds.ts';
import type { Part } from './parts/index.ts';
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
  /** Creates the part's DaemonSet. */
  create(): Promise<void>;
  /** As `kubectl patch` does. */
  change(body: object): Promise<void>;
  /** As `kubectl set image` does. */
  setImage(image: string): Promise<void>;
  /** What that changes, to be changed together with more. */
  imageOf(image: string): { spec: { template: object } };
  /** The agent on a node: started when it is asked for first, ended with the demo. */
  agent(node: string): Promise<DemoAgent>;
  /** Keeps the present scene for the picture. */
  snapshot(caption: string): Promise<void>;
}

export interface StageOptions {
  client: KubeClient;
  clock: Clock;
  witness: Witness;
  kind: DemoKind;
  daemonSet: Part['daemonSet'];
  signal: AbortSignal;
  agent: (node: string) => Promise<DemoAgent>;
  snapshot: (caption: string) => Promise<void>;
}

/** Of the cluster's time: the slowest expectation takes a minute of it. */
const PATIENCE_MS = 4 * 60_000;
const POLL_MS = 500;
const FIELD_MANAGER = 'edgeset-demo';

export const createStage = (options: StageOptions): Stage => {
  const { client, clock, witness, kind, daemonSet, signal } = options;

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

  const imageOf: Stage['imageOf'] = (image) => {
    const [first, ...others] = daemonSet.spec?.template?.spec?.containers ?? [];
    return { spec: { template: { spec: { containers: [{ ...first, image }, ...others] } } } };
  };
  const change = async (body: object): Promise<void> => {
    const { namespace, name } = daemonSet.metadata;
    await client.patch(kind.resource, { namespace, name }, body, { type: kind.patch, fieldManager: FIELD_MANAGER });
  };

  return {
    client,
    witness,
    async create() {
      // In the version that it is written in, which need not be the one that it is read in.
      const version = daemonSet.apiVersion?.split('/')[1] ?? kind.resource.version;
      await client.create({ ...kind.resource, version }, daemonSet, { fieldManager: FIELD_MANAGER });
    },
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
    setImage: (image) => change(imageOf(image)),
    imageOf,
    change,
    agent: options.agent,
    snapshot: options.snapshot,
  };
};
