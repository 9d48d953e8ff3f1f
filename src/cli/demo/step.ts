import { type KubeClient, nodes as nodeResource } from '../../kube/index.ts';
import type { Clock } from '../../runtime/index.ts';
import type { DemoAgent } from './environment.ts';
import type { Observer } from './observer.ts';
import type { Part } from './parts/index.ts';

/** The cluster did not do what the demo shows. The message names what was expected, what was seen, and the step. */
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
  /** Completes "saw ...". Default: the pods, by image. */
  seen?: () => string;
}

export interface StepOptions {
  part: Part;
  client: KubeClient;
  observer: Observer;
  /** The cluster's time. */
  clock: Clock;
  signal: AbortSignal;
  /** The agent of a node, started on first use. */
  agent: (node: string) => Promise<DemoAgent>;
  /** Keeps the current snapshot for the picture. */
  keepPicture: (caption: string) => Promise<void>;
}

/** In the cluster's time: the slowest expectation takes a minute. */
const TIMEOUT_MS = 4 * 60_000;
const POLL_MS = 500;
const FIELD_MANAGER = 'edgeset-demo';
const MOST_NAMES = 4;

/** `2 pods`, `1 pod`. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** `shop-01, shop-22 and 34 more`. */
export const listNames = (names: readonly string[]): string =>
  names.length <= MOST_NAMES
    ? names.join(', ') || 'none'
    : `${names.slice(0, MOST_NAMES - 1).join(', ')} and ${names.length - MOST_NAMES + 1} more`;

/** What a step can do to the cluster, and how it checks the result. */
export const createStepContext = (options: StepOptions) => {
  const { part, client, observer, clock, signal, agent, keepPicture } = options;
  const { availability } = observer;
  const { kind, daemonSet } = part;

  /** `2 with nginx:1.19.5, 1 with nginx:1.19.4 (not ready)`. */
  const inventory = (): string => {
    const groups = Map.groupBy(
      availability.pods(),
      ({ image, up, deleting }) => `${image}${up ? '' : deleting ? ' (terminating)' : ' (not ready)'}`,
    );
    return Array.from(groups, ([state, pods]) => `${pods.length} with ${state}`).join(', ') || 'no pods';
  };
  const fail = ({ that, seen = inventory }: Expectation, within = ''): never => {
    throw new DemoFailure(`${that}${within}`, seen());
  };
  const checkRules = (): void => {
    availability.update();
    const [violation] = availability.violations();
    if (violation !== undefined)
      throw new DemoFailure('the budget to hold and offline nodes to be left alone throughout', violation);
  };
  const wait = (): Promise<void> => observer.nextChange(clock, POLL_MS, signal);

  /** Throws a `DemoFailure` unless the test holds now. */
  const check = (expectation: Expectation): void => {
    checkRules();
    if (!expectation.test()) fail(expectation);
  };
  /** Resolves once the test holds. Rejects with a `DemoFailure` on timeout, or when a rule is violated. */
  const expect = async (expectation: Expectation): Promise<void> => {
    for (const end = clock.now() + TIMEOUT_MS; ; await wait()) {
      checkRules();
      if (expectation.test()) return;
      if (clock.now() >= end) fail(expectation, ` within ${TIMEOUT_MS / 60_000} minutes of the cluster's time`);
    }
  };
  /** Rejects as soon as the test fails within the next `forMs` of the cluster's time. */
  const expectStill = async (expectation: Expectation, forMs: number): Promise<void> => {
    for (const end = clock.now() + forMs; clock.now() < end; await wait()) check(expectation);
  };

  /** Nodes whose pod has this image and is Ready. */
  const nodesWith = (image: string): Set<string> =>
    new Set(
      availability
        .pods()
        .filter((pod) => pod.up && pod.image === image)
        .map(({ node }) => node),
    );
  const haveImage = (image: string, nodes: readonly string[]): boolean => {
    const ready = nodesWith(image);
    return nodes.every((node) => ready.has(node));
  };
  const expectImage = (image: string, nodes: readonly string[]): Promise<void> =>
    expect({ that: `${count(nodes.length, 'node')} to run ${image}`, test: () => haveImage(image, nodes) });

  /** UIDs of the pods on a node. A pod that is being deleted counts as replaced. */
  const podUids = (node: string): string =>
    availability
      .pods()
      .filter((pod) => pod.node === node)
      .map(({ uid, deleting }) => (deleting ? `${uid} (terminating)` : uid))
      .join(' ');
  /** Returns which of the nodes have another pod than at the time of the call. */
  const trackPods = (nodes: readonly string[]): (() => string[]) => {
    const before = new Map(nodes.map((node) => [node, podUids(node)]));
    return () => nodes.filter((node) => before.get(node) !== podUids(node));
  };
  /** That the nodes keep the pods that they have now. */
  const unchanged = (nodes: readonly string[], that = `the pods on ${listNames(nodes)} to stay`): Expectation => {
    const replaced = trackPods(nodes);
    const seen = (): string => `other pods on ${listNames(replaced())}: ${inventory()}`;
    return { that, test: () => replaced().length === 0, seen };
  };

  const expectCondition = (type: string, also = (): boolean => true): Promise<void> =>
    expect({
      that: `the DaemonRollout to have the condition ${type}`,
      test: () => observer.conditionHolds(type) && also(),
      seen: () => `"${observer.status()?.summary ?? 'no status'}", ${inventory()}`,
    });

  const patch = async (body: object): Promise<void> => {
    const call = { type: 'merge', fieldManager: FIELD_MANAGER } as const;
    await client.patch(kind.resource, daemonSet.metadata, body, call);
  };
  /** The part of the spec that `setImage` changes, to combine with other changes. */
  const imagePatch = (image: string): { template: object } => {
    const [first, ...others] = daemonSet.spec?.template?.spec?.containers ?? [];
    return { template: { spec: { containers: [{ ...first, image }, ...others] } } };
  };
  /** Takes nodes offline or brings them back, as `kubectl annotate node NAME edgeset.io/sim=offline` does. */
  const setOnline = async (nodes: readonly string[], online: boolean): Promise<void> => {
    const body = { metadata: { annotations: { 'edgeset.io/sim': online ? null : 'offline' } } };
    for (const name of nodes) await client.patch(nodeResource, { name }, body, { type: 'merge' });
    const others = (): string[] => nodes.filter((node) => availability.isOnline(node) !== online);
    const [wanted, other] = online ? ['Ready', 'NotReady'] : ['NotReady', 'Ready'];
    await expect({
      that: `${listNames(nodes)} to be ${wanted}`,
      test: () => others().length === 0,
      seen: () => `${listNames(others())} still ${other}`,
    });
  };

  return {
    client,
    observer,
    agent,
    keepPicture,
    inventory,
    check,
    expect,
    expectStill,
    nodesWith,
    haveImage,
    expectImage,
    expectCondition,
    trackPods,
    unchanged,
    imagePatch,
    patch,
    /** Creates the part's DaemonSet, in the API version of its manifest. */
    async create(): Promise<void> {
      const version = daemonSet.apiVersion?.split('/')[1] ?? kind.resource.version;
      await client.create({ ...kind.resource, version }, daemonSet, { fieldManager: FIELD_MANAGER });
    },
    /** As `kubectl set image` does. */
    setImage: (image: string): Promise<void> => patch({ spec: imagePatch(image) }),
    takeOffline: (nodes: readonly string[]): Promise<void> => setOnline(nodes, false),
    bringBack: (nodes: readonly string[]): Promise<void> => setOnline(nodes, true),
  };
};
export type StepContext = ReturnType<typeof createStepContext>;
