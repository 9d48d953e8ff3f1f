import type { Container, PodSpec } from 'kubernetes-types/core/v1.d.ts';

/** The API server's default for a container that states no policy. */
const impliedPolicy = (image: string): 'Always' | 'IfNotPresent' => {
  const [name = '', digest] = image.split('@', 2);
  const tag = /:([^:/]+)$/.exec(name)?.[1];
  return tag === 'latest' || (tag === undefined && digest === undefined) ? 'Always' : 'IfNotPresent';
};

const isImplied = ({ image = '', imagePullPolicy }: Container): boolean => imagePullPolicy === impliedPolicy(image);

const containersOf = (spec: PodSpec | undefined): Container[] => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
];

/**
 * Names of the containers whose `imagePullPolicy` differs only because a tag appeared or disappeared: the policy follows from
 * the image in both specs, and `stated`, the newer spec as the user wrote it, has none. A revision records the defaults only,
 * so of the older spec it is not known whether somebody wrote them.
 */
export const impliedPullPolicies = (
  from: PodSpec | undefined,
  to: PodSpec | undefined,
  stated: PodSpec | undefined,
): ReadonlySet<string> => {
  const before = new Map(containersOf(from).map((each) => [each.name, each]));
  const states = new Set(containersOf(stated).flatMap((each) => (each.imagePullPolicy ? [each.name] : [])));
  return new Set(
    containersOf(to)
      .filter((each) => {
        const old = before.get(each.name);
        return old && isImplied(old) && isImplied(each) && !states.has(each.name);
      })
      .map(({ name }) => name),
  );
};
