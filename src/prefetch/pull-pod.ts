import { createHash } from 'node:crypto';
import type { Container, Pod, PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { daemonTolerations, type ImageRequest, type RequestingDaemonSet } from '../rollout/index.ts';
import { imagesOf, type PullImage } from './images.ts';

/** On every pull pod; its value is the UID of the DaemonSet. */
export const PULL_LABEL = 'edgeset.io/prefetch';
/** On every pull pod: hash label of the revision whose images it pulls. */
export const REVISION_ANNOTATION = 'edgeset.io/prefetch-revision';

/**
 * No image holds this program. The kubelet finds that out when it starts the container, and by then it has pulled the
 * image: nothing of the image ever runs, and it needs no shell.
 */
const ABSENT_PROGRAM = '/edgeset.io/absent';

/** The kubelet ends a pull pod by itself this long after we should have, were nobody left to do it. */
const LAST_RESORT_MS = 60_000;

/** Enough for a runtime to set up a container that never runs; limits, because a quota may ask for them. */
const resources = {
  requests: { cpu: '1m', memory: '4Mi' },
  limits: { cpu: '100m', memory: '32Mi' },
};

/** The same for the same pod and revision: two leaders, or a leader that got no answer, meet in AlreadyExists. */
export const pullPodName = (podUid: string, revision: string): string =>
  `edgeset-pull-${createHash('sha256').update(`${podUid}/${revision}`).digest('hex').slice(0, 20)}`;

/** Pod Security's `restricted` accepts it. Linux' settings are refused in a pod for Windows. */
const podSecurity = (windows: boolean): NonNullable<PodSpec['securityContext']> =>
  windows
    ? { runAsNonRoot: true, windowsOptions: { runAsUserName: 'ContainerUser' } }
    : // With a user of its own, since an image whose user is root or has a name only would be refused after its pull.
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

/** What decides where from, as whom and by which runtime the template's own pods would pull. */
const alike = (spec: PodSpec): Partial<PodSpec> => {
  const { imagePullSecrets, serviceAccountName, runtimeClassName, schedulerName, priorityClassName, os } = spec;
  return {
    ...(imagePullSecrets && { imagePullSecrets }),
    ...(serviceAccountName && { serviceAccountName }),
    ...(runtimeClassName && { runtimeClassName }),
    ...(schedulerName && { schedulerName }),
    ...(priorityClassName && { priorityClassName }),
    ...(os && { os }),
    // Where the template's pods do without the pod network, it may not be there yet.
    ...(spec.hostNetwork === true && { hostNetwork: true }),
  };
};

/**
 * The pod that makes `images` of `template`, by default all, present on the node of a request. Its controller is the pod that asks: no
 * other controller can adopt it then, whatever labels it selects by, and it is collected when that pod is gone. It is
 * pinned as DaemonSet pods are, so that the scheduler says why a node has no room for it.
 */
export const pullPodOf = (
  daemonSet: RequestingDaemonSet,
  request: ImageRequest,
  template: PodSpec,
  images: readonly PullImage[] = imagesOf(template),
): Pod => {
  const windows = template.os?.name === 'windows';
  const { podName, podUid, node, revision } = request;
  return {
    metadata: {
      name: pullPodName(podUid, revision),
      namespace: daemonSet.namespace,
      labels: { [PULL_LABEL]: daemonSet.uid, 'app.kubernetes.io/managed-by': 'edgeset-manager' },
      annotations: { [REVISION_ANNOTATION]: revision },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: podName, uid: podUid, controller: true }],
    },
    spec: {
      ...alike(template),
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
