import { createHash } from 'node:crypto';
import type { Container, Pod, PodSpec } from 'kubernetes-types/core/v1.d.ts';
import {
  daemonTolerations,
  type ImageRequest,
  imagesOf,
  type PullImage,
  type RequestingDaemonSet,
} from '../rollout/index.ts';
import { ownKey } from '../words/index.ts';

/** Label of every pull pod; its value is the UID of the DaemonSet. */
export const PULL_LABEL = ownKey.pullPod;
/** Annotation of every pull pod: hash of the revision whose images it pulls. */
export const REVISION_ANNOTATION = ownKey.pullRevision;

/**
 * No image has this program. The kubelet finds that out when it starts the container, after it has pulled the image:
 * nothing of the image ever runs, and it needs no shell.
 */
const ABSENT_PROGRAM = '/edgeset.io/absent';

/** The kubelet ends a pull pod this long after the manager should have, in case no manager is left. */
const LAST_RESORT_MS = 60_000;

/** Enough for a runtime to set up a container that never runs; with limits, because a quota may require them. */
const resources = {
  requests: { cpu: '1m', memory: '4Mi' },
  limits: { cpu: '100m', memory: '32Mi' },
};

/** Follows from pod and revision, so that two leaders do not both create one. */
export const pullPodName = (podUid: string, revision: string): string =>
  `edgeset-pull-${createHash('sha256').update(`${podUid}/${revision}`).digest('hex').slice(0, 20)}`;

/** Pod Security level `restricted` accepts it. A pod for Windows must not have the settings for Linux. */
const podSecurity = (windows: boolean): NonNullable<PodSpec['securityContext']> =>
  windows
    ? { runAsNonRoot: true, windowsOptions: { runAsUserName: 'ContainerUser' } }
    : // With its own user: an image whose user is root, or has only a name, would be refused after its pull.
      { runAsNonRoot: true, runAsUser: 65_532, runAsGroup: 65_532, seccompProfile: { type: 'RuntimeDefault' } };

const containerSecurity = (windows: boolean): NonNullable<Container['securityContext']> =>
  windows ? {} : { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };

const containerOf = ({ image, policy }: PullImage, index: number, windows: boolean): Container => ({
  name: `image-${index}`,
  image,
  command: [ABSENT_PROGRAM],
  resources,
  securityContext: containerSecurity(windows),
  ...(policy !== undefined && { imagePullPolicy: policy }),
});

/** What decides from where, as which user and with which runtime the template's own pods would pull. */
const inherited = (spec: PodSpec): Partial<PodSpec> => {
  const { imagePullSecrets, serviceAccountName, runtimeClassName, schedulerName, priorityClassName, os } = spec;
  return {
    ...(imagePullSecrets && { imagePullSecrets }),
    ...(serviceAccountName && { serviceAccountName }),
    ...(runtimeClassName && { runtimeClassName }),
    ...(schedulerName && { schedulerName }),
    ...(priorityClassName && { priorityClassName }),
    ...(os && { os }),
    // Where the template's pods don't use the pod network, it may not exist yet.
    ...(spec.hostNetwork === true && { hostNetwork: true }),
  };
};

/**
 * The pod that pulls `images` of `template`, by default all, on the node of a request. Its controller is the requesting
 * pod: no other controller can adopt it, whatever labels it selects, and it is collected with that pod. It is bound to its
 * node as DaemonSet pods are, so that the scheduler reports why a node has no room for it. `suffix`: of its name, if another
 * pod has the usual name.
 */
export const pullPodOf = (
  daemonSet: RequestingDaemonSet,
  request: ImageRequest,
  template: PodSpec,
  images: readonly PullImage[] = imagesOf(template),
  suffix = '',
): Pod => {
  const windows = template.os?.name === 'windows';
  const { podName, podUid, node, revision } = request;
  return {
    metadata: {
      name: `${pullPodName(podUid, revision)}${suffix}`,
      namespace: daemonSet.namespace,
      labels: { [PULL_LABEL]: daemonSet.uid, 'app.kubernetes.io/managed-by': 'edgeset-manager' },
      annotations: { [REVISION_ANNOTATION]: revision },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: podName, uid: podUid, controller: true }],
    },
    spec: {
      ...inherited(template),
      containers: images.map((image, index) => containerOf(image, index, windows)),
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      activeDeadlineSeconds: Math.ceil((daemonSet.pullTimeoutMs + LAST_RESORT_MS) / 1000),
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      dnsPolicy: 'Default',
      securityContext: podSecurity(windows),
      tolerations: [...(template.tolerations ?? []), ...daemonTolerations(template)],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
          },
        },
      },
    },
  };
};
