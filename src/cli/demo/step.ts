import { type KubeObject, nodes as nodeResource, type Resource } from '../../kube/index.ts';
import { sleep, systemClock } from '../../runtime/index.ts';
import { firstOf } from '../../view/index.ts';
import { runEdgeset } from './edgeset-command.ts';
import { DemoFailure, type Environment } from './environment.ts';
import type { Expectation, Step, StepContext } from './parts/part.ts';

export interface StepOptions extends Pick<StepContext, 'part' | 'observer' | 'keepPicture' | 'figure'> {
  environment: Environment;
}

/** In the cluster's time: the slowest expectation takes a minute. */
const TIMEOUT_MS = 4 * 60_000;
/** In real time, in which agents wait for networks: at 30 times the speed, four minutes are less than one of their retries. */
const REAL_TIMEOUT_MS = 20_000;
const POLL_MS = 50;
const MERGE = { type: 'merge', fieldManager: 'edgeset-demo' } as const;
const MOST_NAMES = 4;

/** `2 pods`, `1 pod`. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** `shop-01, shop-22 and 34 more`. */
export const listNames = (names: readonly string[]): string =>
  names.length <= MOST_NAMES ? names.join(', ') || 'none' : firstOf(names, MOST_NAMES - 1);

const fail = (expected: string, seen: string): never => {
  throw new DemoFailure(`expected ${expected}; saw ${seen}`);
};

/** What a step can do to the cluster, and how it checks the result. */
const createStepContext = (
  { part, environment, observer, ...options }: StepOptions,
  { unchanged = [] }: Step,
): StepContext & { checkRules(): void } => {
  const { client, clock, signal, agent } = environment;
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

  /** UIDs of the pods on each node. A pod that is being deleted counts as replaced. */
  const podsByNode = (): Map<string, string> => {
    const found = new Map<string, string>();
    for (const { node, uid, deleting } of availability.pods())
      found.set(node, `${found.get(node) ?? ''} ${uid}${deleting ? ' (terminating)' : ''}`);
    return found;
  };
  const before = podsByNode();
  const replaced = (): string[] => {
    const now = podsByNode();
    return part.eligible.filter((node) => now.get(node) !== before.get(node));
  };

  /** What must hold throughout the step. */
  const checkRules = (): void => {
    availability.update();
    const [violation] = availability.violations();
    if (violation !== undefined) fail('the budget to hold and offline nodes to be left alone throughout', violation);
    const others = unchanged.length === 0 ? [] : replaced().filter((node) => unchanged.includes(node));
    if (others.length > 0)
      fail(`the pods on ${listNames(unchanged)} to stay`, `other pods on ${listNames(others)}: ${inventory()}`);
  };
  const check = async (...[that, test, seen = inventory]: Expectation): Promise<void> => {
    checkRules();
    if (!(await test())) fail(that, seen());
  };
  const expect = async (...[that, test, seen = inventory]: Expectation): Promise<void> => {
    const realEnd = systemClock.now() + REAL_TIMEOUT_MS;
    for (const end = clock.now() + TIMEOUT_MS; ; await sleep(clock, POLL_MS, signal)) {
      checkRules();
      if (await test()) return;
      if (clock.now() >= end && systemClock.now() >= realEnd)
        fail(`${that} within ${TIMEOUT_MS / 60_000} minutes of the cluster's time`, seen());
    }
  };

  const nodesWith = (image: string): Set<string> =>
    new Set(availability.pods().flatMap((pod) => (pod.up && pod.image === image ? [pod.node] : [])));
  const haveImage = (image: string, nodes: readonly string[]): boolean => new Set(nodes).isSubsetOf(nodesWith(image));

  const patch = async (body: object): Promise<void> => {
    await client.patch(kind.resource, daemonSet.metadata, body, MERGE);
  };
  const imagePatch = (image: string): { template: object } => {
    const [first] = daemonSet.spec?.template?.spec?.containers ?? [];
    return { template: { spec: { containers: [{ ...first, image }] } } };
  };
  const patchObject = async (resource: Resource, name: string, body: object): Promise<void> => {
    const ref = resource.namespaced ? { ...daemonSet.metadata, name } : { name };
    await client.patch(resource, ref, body, MERGE);
  };
  const patchMetadata = (resource: Resource, name: string, metadata: object): Promise<void> =>
    patchObject(resource, name, { metadata });
  const createObject = async <T extends KubeObject>(resource: Resource<T>, object: T): Promise<void> => {
    await client.create(resource, object, { fieldManager: MERGE.fieldManager });
  };
  /** As `kubectl annotate node NAME edgeset.io/sim=offline` does, or `edgeset.io/sim-`. */
  const setOnline = async (nodes: readonly string[], online: boolean): Promise<void> => {
    const annotations = { 'edgeset.io/sim': online ? null : 'offline' };
    for (const name of nodes) await patchMetadata(nodeResource, name, { annotations });
    const others = (): string[] => nodes.filter((node) => availability.isOnline(node) !== online);
    const [wanted, other] = online ? ['Ready', 'NotReady'] : ['NotReady', 'Ready'];
    await expect(
      `${listNames(nodes)} to be ${wanted}`,
      () => others().length === 0,
      () => `${listNames(others())} still ${other}`,
    );
  };

  return {
    ...options,
    part,
    observer,
    agent,
    inventory,
    replaced,
    checkRules,
    check,
    expect,
    nodesWith,
    haveImage,
    imagePatch,
    patch,
    patchObject,
    patchMetadata,
    createObject,
    metrics: environment.metrics,
    now: () => clock.now(),
    edgeset: (...args) => runEdgeset(args, environment),
    async hold(forMs, ...[that = '', test = () => true, seen]) {
      for (const end = clock.now() + forMs; clock.now() < end; await sleep(clock, POLL_MS, signal))
        await check(that, test, seen);
    },
    expectImage: (image, nodes) =>
      expect(`${count(nodes.length, 'node')} to run ${image}`, () => haveImage(image, nodes)),
    expectCondition: (type, also = () => true) =>
      expect(
        `the DaemonRollout to have the condition ${type}`,
        () => observer.conditionHolds(type) && also(),
        () => `"${observer.status()?.summary ?? 'no status'}", ${inventory()}`,
      ),
    async create() {
      const version = daemonSet.apiVersion?.split('/')[1] ?? kind.resource.version;
      await createObject({ ...kind.resource, version }, daemonSet);
    },
    setImage: (image) => patch({ spec: imagePatch(image) }),
    takeOffline: (nodes) => setOnline(nodes, false),
    bringBack: (nodes) => setOnline(nodes, true),
  };
};

/** Carries out the step. Resolves with what was seen; rejects with a `DemoFailure`. */
export const carryOut = async (step: Step, options: StepOptions): Promise<string> => {
  const context = createStepContext(options, step);
  const seen = await step.run(context);
  context.checkRules();
  return seen;
};
