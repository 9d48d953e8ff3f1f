import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Change } from '../../../src/sim/index.ts';
import type { Call } from '../network/call.ts';
import { type ClusterState, hasSameTemplate, nodeOf, type PodState } from './cluster-state.ts';
import type { ProcessView } from './process-view.ts';
import type { Report } from './report.ts';
import type { AnyDaemonSet } from './terms.ts';

export interface PrerequisitesOptions {
  report: Report;
  actual: ClusterState;
  /** True time, epoch ms. */
  now: () => number;
  /** What a process has been told. */
  viewOf: (process: string) => ProcessView;
}

/** How late what a user asks for may reach a process on a link that is well, ms. */
const LAG_MS = 1_000;
/** The time from which a hook's wait counts is written in whole seconds, by who sends it before it arrives. */
const GRAIN_MS = 1_100;
/** Of one try, where nothing is said of it. */
const PULL_MS = 300_000;

const PULL_LABEL = 'edgeset.io/prefetch';
const PULL_REVISION = 'edgeset.io/prefetch-revision';
const seconds = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text) * 1000;

/** How long a try to pull may take. */
const patienceOf = ({ metadata }: AnyDaemonSet): number =>
  seconds(metadata?.annotations?.['apps.kruise.io/image-predownload-timeout-seconds']) ?? PULL_MS;

/** What a hook holds the pod by. */
const holdersOf = ({ metadata }: Pod, daemonSet: AnyDaemonSet): string[] => {
  const { labelsHandler = {}, finalizersHandler = [] } = daemonSet.spec?.lifecycle?.preDelete ?? {};
  return [
    ...Object.entries(labelsHandler).flatMap(([key, value]) => (metadata?.labels?.[key] === value ? [key] : [])),
    ...finalizersHandler.filter((finalizer) => metadata?.finalizers?.includes(finalizer)),
  ];
};

interface Version {
  at: number;
  daemonSet: AnyDaemonSet;
  /** Since when the template is what it is. */
  templateAt: number;
}

interface Known {
  pod: Pod;
  /** True time; undefined: it is not its user's controller's turn. */
  preparingSince: number | undefined;
}

/**
 * S11, by the cluster's own state: no pod is deleted while its preDelete hook holds it, nothing is done on a node before
 * the images are there where that is asked for, and no two pull pods do the same.
 */
export const createPrerequisitesCheck = ({ report, actual, now, viewOf }: PrerequisitesOptions) => {
  const { violation, check } = report;
  const versions: Version[] = [];
  const known = new Map<string, Known>();
  /** By node: images that a container there was made of. */
  const present = new Map<string, Set<string>>();
  /** Pull pods by UID: what each is for. */
  const pulls = new Map<
    string,
    { name: string; purpose: string; terminating: boolean; node: string; daemonSet: string; at: number }
  >();

  /** What the user may have asked for as far as the sender of a call knew; of several, the mildest counts. */
  const askedOf = (call: Call): Version[] => {
    const told = viewOf(call.process).daemonSet;
    const from = call.at - LAG_MS;
    const inForce = versions.filter((_, index) => (versions[index + 1]?.at ?? Number.POSITIVE_INFINITY) > from);
    const toldAt = versions.findLast(
      ({ daemonSet }) => daemonSet.metadata?.resourceVersion === told?.metadata?.resourceVersion,
    );
    return toldAt ? [...inForce, toldAt] : inForce;
  };

  const isHeld = ({ pod, preparingSince }: Known, { daemonSet }: Version): boolean => {
    if (holdersOf(pod, daemonSet).length === 0) return false;
    const timeoutMs = seconds(daemonSet.metadata?.annotations?.['edgeset.io/predelete-timeout-seconds']);
    if (timeoutMs === undefined || preparingSince === undefined) return true;
    return now() - preparingSince < timeoutMs - GRAIN_MS;
  };

  const lacksImages = (node: string, { daemonSet, templateAt }: Version): boolean => {
    const annotations = daemonSet.metadata?.annotations ?? {};
    const mode = annotations['edgeset.io/predownload'];
    if (mode !== 'required' && mode !== 'preferred') return false;
    if (mode === 'preferred' && now() - templateAt >= patienceOf(daemonSet) - LAG_MS) return false;
    const there = present.get(node);
    return daemonSet.spec?.template.spec?.containers.some(({ image = '' }) => there?.has(image) !== true) ?? false;
  };

  const takePull = (pod: Pod, gone: boolean): void => {
    const { uid = '', name = '', labels, annotations, ownerReferences, deletionTimestamp } = pod.metadata ?? {};
    if (gone) {
      pulls.delete(uid);
      return;
    }
    const purpose = `${ownerReferences?.find(({ controller }) => controller)?.uid} ${annotations?.[PULL_REVISION]}`;
    check('S11');
    const twin = pulls
      .entries()
      .find(([other, pull]) => other !== uid && pull.purpose === purpose && !pull.terminating);
    if (twin && !pulls.has(uid)) violation('S11', `${name} pulls the same as ${twin[1].name}`);
    pulls.set(uid, {
      name,
      purpose,
      terminating: deletionTimestamp != null,
      node: nodeOf(pod),
      daemonSet: labels?.[PULL_LABEL] ?? '',
      at: pulls.get(uid)?.at ?? now(),
    });
  };

  /** A node that went away has the time of a try to come back in: L1 is about those that are online. */
  const isWaiting = ({ node, daemonSet, at }: { node: string; daemonSet: string; at: number }): boolean => {
    const own = actual.daemonSet?.metadata?.uid === daemonSet ? actual.daemonSet : undefined;
    return actual.nodes.get(node)?.ready === false && now() - at < (own ? patienceOf(own) : PULL_MS) + LAG_MS;
  };

  return {
    commit({ type, resource, object }: Change): void {
      const gone = type === 'DELETED';
      if (
        resource.plural === 'daemonsets' &&
        actual.daemonSet &&
        actual.daemonSet.metadata?.uid === object.metadata.uid
      ) {
        const { daemonSet } = actual;
        const last = versions.at(-1);
        const since = last && hasSameTemplate(daemonSet, last.daemonSet) ? last.templateAt : now();
        versions.push({ at: now(), daemonSet, templateAt: since });
      }
      if (resource.plural !== 'pods') return;
      const pod = object as unknown as Pod;
      const { uid } = object.metadata;
      for (const { image, imageID } of pod.status?.containerStatuses ?? []) {
        if (!imageID) continue;
        const node = nodeOf(pod);
        const there = present.get(node);
        if (there) there.add(image);
        else present.set(node, new Set([image]));
      }
      if (pod.metadata?.labels?.[PULL_LABEL] !== undefined) takePull(pod, gone);
      const mine = actual.pods.get(uid);
      if (!mine) known.delete(uid);
      else
        known.set(uid, { pod, preparingSince: mine.preparing ? (known.get(uid)?.preparingSince ?? now()) : undefined });
    },
    /** A pod is about to be deleted by a manager, for whatever reason. Returns what to do once it was. */
    deletes(call: Call, pod: PodState, what: string): () => void {
      const before = known.get(pod.uid);
      if (!before || pod.terminating) return () => undefined;
      check('S11');
      const asked = askedOf(call);
      const [{ daemonSet } = { daemonSet: {} }] = asked;
      const held = asked.length > 0 && asked.every((version) => isHeld(before, version));
      return () => {
        if (held) violation('S11', `${what}, which its hook holds by ${holdersOf(before.pod, daemonSet).join(', ')}`);
      };
    },
    /** An update of the pod on a node is about to begin, in whichever way. */
    begins(call: Call, pod: PodState, what: string): () => void {
      check('S11');
      const asked = askedOf(call);
      const isOld = pod.hash !== actual.target;
      const lacks = isOld && asked.length > 0 && asked.every((version) => lacksImages(pod.node, version));
      return () => {
        if (lacks) violation('S11', `${what}, where the images are not there`);
      };
    },
    /** Images are being pulled, or wait for their nodes. */
    isPulling: (): boolean => pulls.size > 0,
    /** What is left of what was to be cleaned up. */
    left: (): string[] =>
      [...pulls.values()].filter((pull) => !isWaiting(pull)).map(({ name }) => `pull pod ${name} is left`),
  };
};
