import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ContainerStatus, Pod, PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import {
  type InPlaceStep,
  nextInPlaceStep,
  planInPlace,
  updatableContainers,
} from '../../../src/kinds/advanced/inplace/index.ts';
import { gate, initialGatePatch, newPod } from '../../../src/kinds/advanced/podcontrol/index.ts';
import { defaultedTemplate, HASH_LABEL } from '../../../src/kinds/advanced/revisions/index.ts';
import { isKubeError, pods } from '../../../src/kube/index.ts';
import { createAdvanced, isReady, type PodTestContext } from './pod-context.ts';

const labels = { app: 'x' };
const amounts = (cpu: string) => ({ requests: { cpu, memory: '64Mi' } });

interface Changes {
  main?: string;
  side?: string;
  helper?: string;
  cpu?: string;
  memory?: string;
  annotation?: string;
  priority?: string;
  podAnnotations?: Record<string, string>;
}

/** A sidecar, a container, one that has nothing but a limit, and one that never changes. */
const templateOf = ({ namespace }: PodTestContext, changes: Changes): PodTemplateSpec => {
  const {
    main = 'main:v1',
    side = 'side:v1',
    helper = 'helper:v1',
    cpu = '100m',
    memory = '64Mi',
    priority = '0',
  } = changes;
  return {
    metadata: { labels, annotations: { note: changes.annotation ?? 'one', ...changes.podAnnotations } },
    spec: {
      nodeSelector: { case: namespace },
      initContainers: [
        { name: 'once', image: 'once:v1' },
        { name: 'side', image: side, restartPolicy: 'Always' },
      ],
      containers: [
        {
          name: 'main',
          image: main,
          resources: amounts(cpu),
          env: [{ name: 'KRUISE_CONTAINER_PRIORITY', value: priority }],
        },
        { name: 'helper', image: helper, resources: { limits: { memory } } },
        { name: 'still', image: 'still:v1' },
      ],
    },
  };
};

const proved = async ({ client, namespace }: PodTestContext, template: PodTemplateSpec): Promise<PodTemplateSpec> => {
  const answer = await defaultedTemplate(client, namespace, template);
  assert.ok(answer.ok);
  return answer.template;
};

const statusOf = ({ status }: Pod, name: string): ContainerStatus => {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const found = all.find((each) => each.name === name);
  assert.ok(found, `${name} has no status`);
  return found;
};

/** A pod of a template, ready, with its gate open. */
const startPod = async (stage: PodTestContext, template: PodTemplateSpec): Promise<Pod> => {
  const { client, namespace, nodes, now, until } = stage;
  const daemonSet = await createAdvanced(stage, 'v1beta1', { selector: { matchLabels: labels }, template });
  const wanted = newPod({
    daemonSet,
    template: await proved(stage, template),
    node: nodes[0] ?? '',
    nodeUid: '',
    revision: 'old',
    replaces: undefined,
    gates: [gate.inPlace],
  });
  const made = await client.create(pods, wanted);
  const ref = { namespace, name: made.metadata?.name ?? '' };
  const { status } = initialGatePatch(made, now());
  await client.patch(pods, ref, { status }, { type: 'strategic', subresource: 'status' });
  return until('the pod is ready', async () => {
    const pod = await client.get(pods, ref);
    return isReady(pod) ? pod : undefined;
  });
};

interface Walk {
  before: Pod;
  after: Pod;
  /** Kinds of the writes, in their order; and how it ended. */
  steps: string[];
  end: InPlaceStep;
}

/** Carries out every step until nothing is left, or until `enough` says so of one. */
const walk = async (
  stage: PodTestContext,
  from: Changes,
  to: Changes,
  enough: (step: InPlaceStep) => boolean = () => false,
): Promise<Walk> => {
  const { client, namespace, now, until } = stage;
  const before = await startPod(stage, templateOf(stage, from));
  const ref = { namespace, name: before.metadata?.name ?? '' };
  const [old, target] = await Promise.all([from, to].map((each) => proved(stage, templateOf(stage, each))));
  assert.ok(old && target);
  const plan = planInPlace(old, target, target);
  assert.equal(plan.kind, 'in-place', JSON.stringify(plan));
  const resources = Object.fromEntries(
    updatableContainers(target.spec).map((each) => [each.name, each.resources ?? {}]),
  );
  const steps: string[] = [];
  const { after, end } = await until('the pod has arrived', async () => {
    const pod = await client.get(pods, ref);
    const carries = pod.metadata?.labels?.[HASH_LABEL] === 'new';
    const step = nextInPlaceStep({
      pod,
      revision: 'new',
      plan: carries || plan.kind !== 'in-place' ? undefined : plan,
      resources,
      graceMs: 0,
      now: now(),
    });
    if (step.kind === 'done' || step.kind === 'stuck' || enough(step)) return { after: pod, end: step };
    if (step.kind === 'wait') return undefined;
    const subresource = step.kind === 'pod' ? undefined : step.kind;
    try {
      await client.patch(pods, ref, step.body, { type: 'strategic', ...(subresource && { subresource }) });
    } catch (error) {
      // The kubelet has written meanwhile: decided again.
      if (isKubeError(error, 'Conflict')) return undefined;
      throw error;
    }
    steps.push(step.kind);
    assert.ok(steps.length < 12, `it writes again and again: ${steps.join()}`);
    return undefined;
  });
  return { before, after, steps, end };
};

const CONTAINERS = ['side', 'main', 'helper', 'still'];

/** Names of those that run again. */
const restarted = ({ before, after }: Walk): string[] =>
  CONTAINERS.filter((name) => {
    const [old, now] = [statusOf(before, name), statusOf(after, name)];
    assert.equal(now.restartCount - old.restartCount, now.containerID === old.containerID ? 0 : 1);
    return now.containerID !== old.containerID;
  });

const arrives = async (stage: PodTestContext, walked: Walk): Promise<void> => {
  const { client, namespace, until } = stage;
  assert.equal(walked.end.kind, 'done');
  assert.equal(walked.after.metadata?.uid, walked.before.metadata?.uid);
  const ref = { namespace, name: walked.after.metadata?.name ?? '' };
  await until('it is ready again', async () => (isReady(await client.get(pods, ref)) ? true : undefined));
};

const CASES: readonly { name: string; from?: Changes; to: Changes; restarts: string[]; steps: string[] }[] = [
  { name: 'the image of a container', to: { main: 'main:v2' }, restarts: ['main'], steps: ['status', 'pod', 'status'] },
  { name: 'the image of a sidecar', to: { side: 'side:v2' }, restarts: ['side'], steps: ['status', 'pod', 'status'] },
  {
    name: 'two tags of one image',
    to: { main: 'main:v2.is-v1' },
    restarts: ['main'],
    steps: ['status', 'pod', 'status'],
  },
  { name: 'metadata alone', to: { annotation: 'two' }, restarts: [], steps: ['pod'] },
  { name: 'resources alone', to: { cpu: '200m' }, restarts: [], steps: ['status', 'resize', 'pod', 'status'] },
  {
    name: 'a limit that is a request too',
    to: { memory: '80Mi' },
    restarts: [],
    steps: ['status', 'resize', 'pod', 'status'],
  },
  {
    name: 'images in the order of their launch priority, then resources and metadata',
    from: { priority: '1' },
    to: { priority: '1', main: 'main:v2', helper: 'helper:v2', side: 'side:v2', cpu: '150m', annotation: 'two' },
    restarts: ['side', 'main', 'helper'],
    steps: ['status', 'resize', 'pod', 'pod', 'status'],
  },
];

/** Registers tests that walk a pod from one template to another, by the pure decision and by hand. */
export const describeInPlace = (open: () => Promise<PodTestContext>): void => {
  for (const { name, from = {}, to, restarts, steps } of CASES)
    it(`a running pod is brought to ${name}`, async () => {
      const stage = await open();
      const walked = await walk(stage, from, to);
      assert.deepEqual(restarted(walked), restarts);
      assert.deepEqual(walked.steps, steps);
      await arrives(stage, walked);
      const target = await proved(stage, templateOf(stage, to));
      const images = (each: Pod | PodTemplateSpec): unknown => updatableContainers(each.spec).map(({ image }) => image);
      assert.deepEqual(images(walked.after), images(target));
      assert.equal(walked.after.metadata?.annotations?.note, to.annotation ?? 'one');
    });

  it('a pod whose new image cannot be pulled is down, and out of service', async () => {
    const stage = await open();
    const walked = await walk(stage, {}, { main: 'main:v2--not-pullable' }, (step) =>
      step.kind === 'wait' ? step.why.includes('ImagePullBackOff') : false,
    );
    assert.equal(isReady(walked.after), false);
    assert.equal(statusOf(walked.after, 'main').state?.running, undefined);
    assert.ok(statusOf(walked.after, 'side').state?.running);
  });

  it('a pod whose node cannot give it more says so', async () => {
    const stage = await open();
    const podAnnotations = { 'sim.edgeset.io/resize': 'infeasible' };
    const walked = await walk(stage, { podAnnotations }, { podAnnotations, cpu: '64' });
    assert.equal(walked.end.kind, 'stuck');
    assert.match(walked.end.kind === 'stuck' ? walked.end.why : '', /capacity/);
  });
};
