import type { Stage, Thing } from './stage.ts';

/** What is left of a situation once names, UIDs, hashes and times have become words that any cluster would use. */
export interface Outcome {
  /** `node-1: app:v2 [B] ready`, sorted. */
  pods: string[];
  /** `2 B app:v2`: number, word for the hash, image; newest first. */
  revisions: string[];
  /** Of the DaemonSet; absent when there is none. */
  status?: Record<string, number>;
  /** What the DaemonSet controller told, each sentence once. */
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

/** Reads one situation's end. */
export const outcomeOf = async (stage: Stage): Promise<Outcome> => {
  const [pods, revisions, sets, events] = await Promise.all([
    stage.list('pods'),
    stage.list('controllerrevisions'),
    stage.list('daemonsets'),
    stage.list('events'),
  ]);
  const imageOf = (revision: Thing): string =>
    (revision as unknown as RevisionView).data.spec?.template?.spec?.containers[0]?.image ?? '-';
  const numberOf = (revision: Thing): number => (revision as unknown as RevisionView).revision;
  // Letters by image: the same on every cluster, whatever the hashes are.
  const known = revisions
    .toSorted((a, b) => imageOf(a).localeCompare(imageOf(b)) || numberOf(a) - numberOf(b))
    .map((revision) => revision.metadata.labels?.[HASH] ?? revision.metadata.name);
  const wordOf = (hash: string | undefined): string => {
    if (hash === undefined) return '-';
    const at = known.indexOf(hash);
    return at < 0 ? '?' : (LETTERS[at] ?? '?');
  };
  const node = (name: string | undefined): string => name?.replace(stage.namespace, 'node') ?? 'nowhere';
  const podLine = (pod: Thing): string => {
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
  const tell = ({ type, reason, message }: Thing): string =>
    `${String(type)} ${String(reason)}: ${String(message)}`
      .replaceAll(stage.namespace, 'node')
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
          .map(tell),
      ),
    ].toSorted(),
  };
};
