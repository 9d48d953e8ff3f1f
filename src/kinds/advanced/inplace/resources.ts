import type { Container, PodSpec, ResourceRequirements } from 'kubernetes-types/core/v1.d.ts';
import { parseQuantity } from '../../../rollout/index.ts';

/** Resources that the `resize` subresource can change in a running container. */
const RESIZABLE = ['cpu', 'memory'];

type Amounts = Readonly<Record<string, string>>;

/** With the API server's default: a missing request equals the limit. */
export const effective = ({
  requests = {},
  limits = {},
  ...rest
}: ResourceRequirements = {}): ResourceRequirements & {
  requests: Amounts;
  limits: Amounts;
} => ({ ...rest, limits, requests: { ...limits, ...requests } });

/** Does the pod have all wanted amounts? Additional ones come from a LimitRange of the namespace. */
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

  /** Why the amounts can't be changed in place, as a predicate of the container; undefined if they can. */
  blocker(before: ResourceRequirements = {}, after: ResourceRequirements = {}): string | undefined {
    const limit = lost(before.limits, after.limits);
    if (limit !== undefined) return `loses its limit of ${limit}, which is impossible while it runs`;
    const request = lost(effective(before).requests, effective(after).requests);
    return request === undefined ? undefined : `loses its request of ${request}, which is impossible while it runs`;
  },
};

type Qos = 'Guaranteed' | 'Burstable' | 'BestEffort';

const isSet = (amount: string | undefined): boolean => amount !== undefined && !/^0+(\.0+)?[a-zA-Z]*$/.test(amount);

const isGuaranteed = ({ resources = {} }: Container): boolean =>
  RESIZABLE.every((name) => {
    const limit = resources.limits?.[name];
    // A missing request equals the limit.
    return isSet(limit) && (resources.requests?.[name] ?? limit) === limit;
  });

const requestsAny = ({ resources = {} }: Container): boolean =>
  RESIZABLE.some((name) => isSet(resources.limits?.[name]) || isSet(resources.requests?.[name]));

/** The quality of service class of a pod, which is immutable. */
export const qosOf = (spec: PodSpec | undefined): Qos => {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  if (!containers.some(requestsAny)) return 'BestEffort';
  return containers.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
};
