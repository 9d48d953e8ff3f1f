import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Change } from '../../../embedded/index.ts';
import { type AnyDaemonSet, hasSameTemplate, nodeOf } from '../../invariants/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { CheckContext } from '../check.ts';
import type { PodState } from '../state/cluster-state.ts';
import { defaultsMs, tolerances } from '../tolerances.ts';

const PULL_LABEL = 'edgeset.io/prefetch';
const PULL_REVISION = 'edgeset.io/prefetch-revision';
const seconds = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text) * 1000;

/** How long an attempt to pull images may take. */
const pullTimeoutOf = ({ metadata }: AnyDaemonSet): number =>
  seconds(metadata?.annotations?.['apps.kruise.io/image-predownload-timeout-seconds']) ?? defaultsMs.pullTimeout;

/** The labels and finalizers by which a hook holds the pod. */
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
  /** Actual time; undefined: its hook does not have its turn. */
  preparingSince: number | undefined;
}

/**
 * S11, by the actual state: no pod is deleted while its preDelete hook holds it, no node is updated before the required images
 * are there, and no two pull pods pull the same images.
 */
export const createPrerequisitesCheck = ({
  report,
  actual,
  now,
  viewOf,
}: Pick<CheckContext, 'report' | 'actual' | 'now' | 'viewOf'>) => {
  const { violation, check } = report;
  const versions: Version[] = [];
  const known = new Map<string, Known>();
  /** By node: images of containers that have run there. */
  const present = new Map<string, Set<string>>();
  /** Pull pods by UID. */
  const pulls = new Map<
    string,
    { name: string; purpose: string; terminating: boolean; node: string; daemonSet: string; at: number }
  >();

  /** The versions of the DaemonSet that the sender of a call may have acted on; of several, the mildest counts. */
  const versionsKnownTo = (call: Call): Version[] => {
    const observed = viewOf(call.process).daemonSet;
    const from = call.at - tolerances.userChange.ms;
    const inForce = versions.filter((_, index) => (versions[index + 1]?.at ?? Number.POSITIVE_INFINITY) > from);
    const knownVersion = versions.findLast(
      ({ daemonSet }) => daemonSet.metadata?.resourceVersion === observed?.metadata?.resourceVersion,
    );
    return knownVersion ? [...inForce, knownVersion] : inForce;
  };

  const isHeld = ({ pod, preparingSince }: Known, { daemonSet }: Version): boolean => {
    if (holdersOf(pod, daemonSet).length === 0) return false;
    const timeoutMs = seconds(daemonSet.metadata?.annotations?.['edgeset.io/predelete-timeout-seconds']);
    if (timeoutMs === undefined || preparingSince === undefined) return true;
    return now() - preparingSince < timeoutMs - tolerances.hookTimeout.ms;
  };

  const lacksImages = (node: string, { daemonSet, templateAt }: Version): boolean => {
    const annotations = daemonSet.metadata?.annotations ?? {};
    const mode = annotations['edgeset.io/predownload'];
    if (mode !== 'required' && mode !== 'preferred') return false;
    if (mode === 'preferred' && now() - templateAt >= pullTimeoutOf(daemonSet) - tolerances.userChange.ms) return false;
    const images = present.get(node);
    return daemonSet.spec?.template.spec?.containers.some(({ image = '' }) => images?.has(image) !== true) ?? false;
  };

  const followPullPod = (pod: Pod, gone: boolean): void => {
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
    if (twin && !pulls.has(uid)) violation('S11', `${name} pulls the same images as ${twin[1].name}`);
    pulls.set(uid, {
      name,
      purpose,
      terminating: deletionTimestamp != null,
      node: nodeOf(pod),
      daemonSet: labels?.[PULL_LABEL] ?? '',
      at: pulls.get(uid)?.at ?? now(),
    });
  };

  /** An offline node may take as long as one attempt to come back: L1 is about online nodes. */
  const isWaiting = ({ node, daemonSet, at }: { node: string; daemonSet: string; at: number }): boolean => {
    const own = actual.daemonSet?.metadata?.uid === daemonSet ? actual.daemonSet : undefined;
    return (
      actual.nodes.get(node)?.ready === false &&
      now() - at < (own ? pullTimeoutOf(own) : defaultsMs.pullTimeout) + tolerances.userChange.ms
    );
  };

  return {
    onCommit({ type, resource, object }: Change): void {
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
        const images = present.get(node);
        if (images) images.add(image);
        else present.set(node, new Set([image]));
      }
      if (pod.metadata?.labels?.[PULL_LABEL] !== undefined) followPullPod(pod, gone);
      const mine = actual.pods.get(uid);
      if (!mine) known.delete(uid);
      else
        known.set(uid, { pod, preparingSince: mine.preparing ? (known.get(uid)?.preparingSince ?? now()) : undefined });
    },
    /** A manager deletes a pod, for whatever reason. Returns what to run once it was executed. */
    onDelete(call: Call, pod: PodState, what: string): () => void {
      const before = known.get(pod.uid);
      if (!before || pod.terminating) return () => undefined;
      check('S11');
      const asked = versionsKnownTo(call);
      const [{ daemonSet } = { daemonSet: {} }] = asked;
      const held = asked.length > 0 && asked.every((version) => isHeld(before, version));
      return () => {
        if (held)
          violation('S11', `${what}, although its hook holds it by ${holdersOf(before.pod, daemonSet).join(', ')}`);
      };
    },
    /** An update of the pod on a node begins. */
    begin(call: Call, pod: PodState, what: string): () => void {
      check('S11');
      const asked = versionsKnownTo(call);
      const isOld = pod.hash !== actual.target;
      const lacks = isOld && asked.length > 0 && asked.every((version) => lacksImages(pod.node, version));
      return () => {
        if (lacks) violation('S11', `${what}, although the images are not on the node`);
      };
    },
    /** Images are being pulled, or pull pods wait for their nodes. */
    isPulling: (): boolean => pulls.size > 0,
    /** Pull pods that should have been cleaned up. */
    left: (): string[] =>
      [...pulls.values()].filter((pull) => !isWaiting(pull)).map(({ name }) => `pull pod ${name} is left`),
  };
};
