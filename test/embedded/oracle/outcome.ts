import type { ApiObject, ScenarioCluster } from './cluster.ts';

/** The result of a scenario, with names, UIDs, hashes and times replaced by words that don't depend on the cluster. */
export interface Outcome {
  /** `node-1: app:v2 [B] ready`, sorted. */
  pods: string[];
  /** `2 B app:v2`: revision number, letter for the hash, image; newest first. */
  revisions: string[];
  /** The DaemonSet's status counts; absent when there is none. */
  status?: Record<string, number>;
  /** The DaemonSet controller's Events, without duplicates. */
  events: string[];
}

interface PodView {
  spec: { nodeName?: string; containers: { image: string }[] };
  status?: { phase?: string; conditions?: { type: string; status: string }[] };
}
interface RevisionView {
  revision: number;
  data: { spec: { template: { spec: { containers: { image: string }[] } } } };
}

const HASH = 'controller-revision-hash';
const LETTERS = 'ABCDEFGH';

/** Reads the result of a scenario. */
export const outcomeOf = async (cluster: ScenarioCluster): Promise<Outcome> => {
  const [pods, revisions, sets, events] = await Promise.all([
    cluster.list('pods'),
    cluster.list('controllerrevisions'),
    cluster.list('daemonsets'),
    cluster.list('events'),
  ]);
  const imageOf = (revision: ApiObject): string =>
    (revision as unknown as RevisionView).data.spec?.template?.spec?.containers[0]?.image ?? '-';
  const numberOf = (revision: ApiObject): number => (revision as unknown as RevisionView).revision;
  // Letters by image, which don't depend on the hashes.
  const known = revisions
    .toSorted((a, b) => imageOf(a).localeCompare(imageOf(b)) || numberOf(a) - numberOf(b))
    .map((revision) => revision.metadata.labels?.[HASH] ?? revision.metadata.name);
  const wordOf = (hash: string | undefined): string => {
    if (hash === undefined) return '-';
    const at = known.indexOf(hash);
    return at < 0 ? '?' : (LETTERS[at] ?? '?');
  };
  const node = (name: string | undefined): string => name?.replace(cluster.namespace, 'node') ?? 'nowhere';
  const podLine = (pod: ApiObject): string => {
    const { spec, status } = pod as unknown as PodView;
    const ready = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)?.name;
    const words = [
      ready ? 'ready' : 'not ready',
      ...(status?.phase === 'Running' || status?.phase === 'Pending' ? [] : [String(status?.phase)]),
      ...(pod.metadata.deletionTimestamp ? ['terminating'] : []),
      ...(owner === undefined ? ['orphan'] : owner === 'app' ? [] : [`of ${owner}`]),
    ];
    const { image = '' } = spec.containers[0] ?? {};
    return `${node(spec.nodeName)}: ${image} [${wordOf(pod.metadata.labels?.[HASH])}] ${words.join(', ')}`;
  };
  const eventText = ({ type, reason, message }: ApiObject): string =>
    `${String(type)} ${String(reason)}: ${String(message)}`
      .replaceAll(cluster.namespace, 'node')
      .replaceAll(/\b(app|other)-[a-z0-9]{5}\b/g, '$1-*');
  const [set] = sets;
  const status = set?.status as Record<string, unknown> | undefined;
  const counts = Object.entries(status ?? {}).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );
  return {
    pods: pods.map(podLine).toSorted(),
    revisions: revisions
      .toSorted((a, b) => numberOf(b) - numberOf(a))
      .map((each) => `${numberOf(each)} ${wordOf(each.metadata.labels?.[HASH])} ${imageOf(each)}`),
    ...(set && { status: Object.fromEntries(counts.toSorted(([a], [b]) => a.localeCompare(b))) }),
    events: [
      ...new Set(
        events
          .filter(({ source }) => (source as { component?: string } | undefined)?.component === 'daemonset-controller')
          .map(eventText),
      ),
    ].toSorted(),
  };
};
