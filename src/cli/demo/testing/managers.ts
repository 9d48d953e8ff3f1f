import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import { createController } from '../../../controller/index.ts';
import { createAdvancedKind } from '../../../kinds/advanced/index.ts';
import { nativeKind } from '../../../kinds/native/index.ts';
import { createEventRecorder, daemonSets, type KubeObject, nodes, pods, type Resource } from '../../../kube/index.ts';
import { sleep } from '../../../runtime/index.ts';
import { annotation } from '../../../words/index.ts';
import type { ManagerEnvironment, StartManager } from '../environment.ts';
import { isReady } from '../observer.ts';

type Work = (environment: ManagerEnvironment, signal: AbortSignal) => Promise<unknown>;

/** A manager that runs `work` until it is stopped. */
const manager =
  (work: Work): StartManager =>
  (environment) => {
    const stop = new AbortController();
    const ended = work(environment, stop.signal).catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
    return {
      ended,
      async stop() {
        stop.abort();
        await ended;
      },
      log: () => ['a test double'],
    };
  };

/** The product's own controller. */
const runController = async (
  { client, env }: ManagerEnvironment,
  signal: AbortSignal,
  kind: 'native' | 'advanced' = 'native',
): Promise<unknown> => {
  const recorder = { reportingController: 'edgeset.io/test', reportingInstance: 'test' };
  const events = createEventRecorder({ client, env, ...recorder });
  const options = { client, env, events, identity: 'test' };
  const controller =
    kind === 'native' ? createController(nativeKind, options) : createController(createAdvancedKind(), options);
  return Promise.all([controller.run(signal), controller.lead(signal), events.run(signal)]);
};

/** The same cluster, with the objects of one resource shown as `change` returns them. */
const showing = (
  environment: ManagerEnvironment,
  { plural }: Resource,
  change: <T extends KubeObject>(object: T) => T,
): ManagerEnvironment => {
  const { client } = environment;
  const isChanged = (resource: Resource): boolean => resource.plural === plural;
  return {
    ...environment,
    client: {
      ...client,
      async list(resource, options) {
        const found = await client.list(resource, options);
        return isChanged(resource) ? { ...found, items: found.items.map(change) } : found;
      },
      async *watch(resource, options) {
        for await (const event of client.watch(resource, options))
          yield event.type === 'BOOKMARK' || !isChanged(resource) ? event : { ...event, object: change(event.object) };
      },
    },
  };
};

const asReady = <T extends KubeObject>(object: T): T => {
  const { status, ...node } = object as unknown as Node;
  const conditions = status?.conditions?.map((condition) =>
    condition.type === 'Ready' ? { ...condition, status: 'True' } : condition,
  );
  return { ...node, status: { ...status, conditions } } as unknown as T;
};

const withoutPlan = <T extends KubeObject>(object: T): T => {
  const { [annotation.rolloutPlan]: _, ...annotations } = object.metadata?.annotations ?? {};
  return { ...object, metadata: { ...object.metadata, annotations } };
};

/** Deletes the pods that `choose` returns, once a second. */
const deleteEverySecond = async (
  { client, env }: ManagerEnvironment,
  signal: AbortSignal,
  choose: () => Promise<readonly Pod[]>,
): Promise<void> => {
  for (;;) {
    await sleep(env.clock, 1000, signal);
    for (const { metadata } of await choose())
      await client.delete(pods, { namespace: 'default', name: metadata?.name ?? '' }, { signal });
  }
};

const deleteOutdated: Work = (environment, signal) =>
  deleteEverySecond(environment, signal, async () => {
    const { client } = environment;
    const where = { namespace: 'default', signal };
    const [daemonSet] = (await client.list(daemonSets, where)).items;
    const ready = (await client.list(nodes, { signal })).items.filter(isReady).map(({ metadata }) => metadata?.name);
    const wanted = daemonSet?.spec?.template.spec?.containers[0]?.image;
    return (await client.list(pods, where)).items.filter(
      ({ metadata, spec }) =>
        wanted !== undefined &&
        metadata?.deletionTimestamp === undefined &&
        ready.includes(spec?.nodeName) &&
        spec?.containers[0]?.image !== wanted,
    );
  });

const deletePrepared: Work = (environment, signal) =>
  deleteEverySecond(environment, signal, async () => {
    const labelSelector = 'lifecycle.apps.kruise.io/state=PreparingDelete';
    return (await environment.client.list(pods, { namespace: 'default', labelSelector, signal })).items;
  });

/** Doesn't skip offline nodes: it takes every node for Ready. */
export const updatesOfflineNodes = manager((environment, signal) =>
  runController(showing(environment, nodes, asReady), signal),
);

/** Doesn't look at the rollout plan: it updates all nodes at once, within the budget. */
export const ignoresPlans = manager((environment, signal) =>
  runController(showing(environment, daemonSets, withoutPlan), signal),
);

/** Deletes every outdated pod on online nodes at once. */
export const ignoresBudget = manager(deleteOutdated);

/** Doesn't wait for owners. */
export const ignoresOwners = manager((environment, signal) =>
  Promise.all([runController(environment, signal), deleteOutdated(environment, signal)]),
);

/** Doesn't wait for preDelete hooks. */
export const ignoresHooks = manager((environment, signal) =>
  Promise.all([runController(environment, signal, 'advanced'), deletePrepared(environment, signal)]),
);

export const endsAtOnce = manager(() => Promise.resolve());
