import type { Container, PodSpec, ResourceRequirements } from 'kubernetes-types/core/v1.d.ts';
import { parseQuantity } from './quantity.ts';

/** What the `resize` subresource can change while a container runs. */
const RESIZABLE = ['cpu', 'memory'];

type Amounts = Readonly<Record<string, string>>;

/** As a pod gets them: the API server takes a limit for a request that is not named. */
export const effective = ({
  requests = {},
  limits = {},
  ...rest
}: ResourceRequirements = {}): ResourceRequirements & {
  requests: Amounts;
  limits: Amounts;
} => ({ ...rest, limits, requests: { ...limits, ...requests } });

/** Whether a pod has all that is wanted. What it has beyond that was given to it by a LimitRange of its namespace. */
export const grants = (present: ResourceRequirements, wanted: ResourceRequirements): boolean =>
  (['requests', 'limits'] as const).every((kind) =>
    RESIZABLE.every((name) => {
      const amount = effective(wanted)[kind][name];
      return amount === undefined || parseQuantity(present[kind]?.[name]) === parseQuantity(amount);
    }),
  );

const others = (amounts: Amounts = {}): Amounts =>
  Object.fromEntries(Object.entries(amounts).filter(([name]) => !RESIZABLE.includes(name)));

const lost = (before: Amounts = {}, after: Amounts = {}): string | undefined =>
  RESIZABLE.find((name) => before[name] !== undefined && after[name] === undefined);

export const resizable = {
  /** The part that cannot be changed in place. */
  without: (resources: ResourceRequirements = {}): unknown => ({
    ...resources,
    limits: others(resources.limits),
    requests: others(resources.requests),
  }),

  /** Why the amounts cannot change in place, as the end of a sentence about the container; undefined when they can. */
  obstacle(before: ResourceRequirements = {}, after: ResourceRequirements = {}): string | undefined {
    const limit = lost(before.limits, after.limits);
    if (limit !== undefined) return `loses its limit of ${limit}, which a running container cannot`;
    const request = lost(effective(before).requests, effective(after).requests);
    return request === undefined ? undefined : `loses its request of ${request}, which a running container cannot`;
  },
};

type Qos = 'Guaranteed' | 'Burstable' | 'BestEffort';

const set = (amount: string | undefined): boolean => amount !== undefined && !/^0+(\.0+)?[a-zA-Z]*$/.test(amount);

const guaranteed = ({ resources = {} }: Container): boolean =>
  RESIZABLE.every((name) => {
    const limit = resources.limits?.[name];
    // A request that is not set is as high as its limit.
    return set(limit) && (resources.requests?.[name] ?? limit) === limit;
  });

const asks = ({ resources = {} }: Container): boolean =>
  RESIZABLE.some((name) => set(resources.limits?.[name]) || set(resources.requests?.[name]));

/** The class that the kubelet puts a pod in; it is fixed for the pod's life. */
export const qosOf = (spec: PodSpec | undefined): Qos => {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  if (!containers.some(asks)) return 'BestEffort';
  return containers.every(guaranteed) ? 'Guaranteed' : 'Burstable';
};
