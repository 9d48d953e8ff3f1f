import type { ContainerStateTerminated, ContainerStatus, Pod } from 'kubernetes-types/core/v1.d.ts';
import { plainText } from '../../text/index.ts';
import { toEpochMs } from './metadata.ts';

/** Why an unavailable pod will not become available by waiting a little. */
export type PodTrouble = 'crash-loop' | 'image-pull';

export interface Trouble {
  trouble: PodTrouble;
  /** The container, the kubelet's reason, the number of restarts and the last message; a few hundred characters at most. */
  detail: string;
}

/** The kubelet's waiting reasons (pkg/kubelet/images, cri-api/pkg/errors) for an image that cannot be pulled. */
export const imagePullReasons: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);

const CRASH_LOOP = 'CrashLoopBackOff';

// A reboot leaves one restart behind, and a program that ran for minutes did not fail at its start.
const LOOP_RESTARTS = 2;
const SHORT_RUN_MS = 600_000;

// The runtime lost the container, for example after a power cut: this says nothing about its program.
const unknownEnds: ReadonlySet<string> = new Set(['Unknown', 'ContainerStatusUnknown']);

const wasShort = (run: ContainerStateTerminated | undefined): boolean => {
  if (!run || unknownEnds.has(run.reason ?? '')) return false;
  const startedAt = toEpochMs(run.startedAt);
  const finishedAt = toEpochMs(run.finishedAt);
  return startedAt > 0 && finishedAt >= startedAt && finishedAt - startedAt < SHORT_RUN_MS;
};

/**
 * Between two tries a container does not wait in CrashLoopBackOff: it runs without being ready, or has just ended. Unlike
 * the short interruption that a restart of the kubelet causes, the pod was not ready even before this run began.
 */
const isBetweenTries = (container: ContainerStatus, initial: boolean, unreadySince: number): boolean => {
  const { running, terminated } = container.state ?? {};
  const hasSucceeded = initial && terminated?.exitCode === 0;
  if (container.restartCount < LOOP_RESTARTS || container.ready || hasSucceeded || unreadySince === 0) return false;
  const thisRunBeganAt = toEpochMs((running ?? terminated)?.startedAt);
  return wasShort(terminated ?? container.lastState?.terminated) && unreadySince < thisRunBeganAt;
};

const MESSAGE_LIMIT = 200;

/** On one line of at most `limit` characters. It keeps both ends: Go's errors begin with what failed, and end with the cause. */
export const shorten = (text: string, limit: number): string => {
  const characters = Array.from(plainText(text).replaceAll(/\s+/g, ' ').trim());
  if (characters.length <= limit) return characters.join('');
  const head = Math.floor(limit / 2);
  return [...characters.slice(0, head), '…', ...characters.slice(head + 1 - limit)].join('');
};

const tidy = (text: string): string => shorten(text, MESSAGE_LIMIT);

const plainEnds: ReadonlySet<string> = new Set(['', 'Error', 'Completed']);

const describe = (container: ContainerStatus, initial: boolean, reason: string): string => {
  const end = container.state?.terminated ?? container.lastState?.terminated;
  const { restartCount } = container;
  const facts = [
    end && !plainEnds.has(end.reason ?? '') ? end.reason : undefined,
    end ? `exit code ${end.exitCode}` : undefined,
    restartCount > 0 ? `${restartCount} restart${restartCount === 1 ? '' : 's'}` : undefined,
  ].filter((fact) => fact !== undefined);
  // For a crash loop the kubelet's message only gives its back-off; the program's termination message says more.
  const message = tidy((reason === CRASH_LOOP ? end?.message : container.state?.waiting?.message) ?? '');
  const where = `${initial ? 'init container' : 'container'} ${container.name}`;
  return `${where}: ${reason}${facts.length > 0 ? ` (${facts.join(', ')})` : ''}${message === '' ? '' : `: ${message}`}`;
};

/** The scheduler's message about a pod that it could not schedule; empty if it has scheduled it, or has not tried. */
export const notPlaced = ({ status }: Pod): string => {
  const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (condition?.status !== 'False' || condition.reason !== 'Unschedulable') return '';
  return `not scheduled (${tidy(condition.message ?? '')})`;
};

/** Why a pod that is not ready will not become ready by waiting a little; undefined if waiting may help. */
export const troubleOf = (pod: Pod, unreadySince: number): Trouble | undefined => {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const containers = [
    ...initContainerStatuses.map((container) => ({ container, initial: true })),
    ...containerStatuses.map((container) => ({ container, initial: false })),
  ];
  for (const { container, initial } of containers) {
    const reason = container.state?.waiting?.reason ?? '';
    if (imagePullReasons.has(reason)) return { trouble: 'image-pull', detail: describe(container, initial, reason) };
  }
  for (const { container, initial } of containers) {
    if (container.state?.waiting?.reason === CRASH_LOOP || isBetweenTries(container, initial, unreadySince))
      return { trouble: 'crash-loop', detail: describe(container, initial, CRASH_LOOP) };
  }
  return undefined;
};
