import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Delays of simulated pods in milliseconds; a pod's own `sim.edgeset.io/<start|stop|die>-ms` comes first. */
export interface Delays {
  /** From the pod's first sight to its containers' start, plus up to half of it again. Default 300. */
  startMs: number;
  /** From the delete to the containers' end, plus up to half of it again. Default 200. */
  stopMs: number;
  /** From ready to the death that a bad version brings. Default 1500. */
  dieMs: number;
  /** Pause before a crashed container's second start; doubled each time, up to 64 times as long. Default 1000. */
  backOffMs: number;
}

const defaults: Delays = { startMs: 300, stopMs: 200, dieMs: 1500, backOffMs: 1000 };

/** Of a pod whose behaviour is `slow`, where its annotations name no delay. */
const slowFactor = 20;

/** kwok reports this address for nodes that it does not manage; no node may have it. */
const nowhere = '192.0.2.1';

const folder = join(import.meta.dirname, 'kwok');

// A jq expression that yields a Go duration.
const delay = (key: string, fallbackMs: number, factor: number, slow: boolean): string => {
  const fallback = slow
    ? `(if .metadata.annotations["sim.edgeset.io/behaviour"] == "slow" then ${fallbackMs * slowFactor} else ${fallbackMs} end)`
    : String(fallbackMs);
  return `(((.metadata.annotations["sim.edgeset.io/${key}"] // ${fallback}) | tonumber) * ${factor} | floor | tostring) + "ms"`;
};

const backOff = (baseMs: number): string =>
  `(([.status.containerStatuses[].restartCount] | max) as $n | ${baseMs} * pow(2; [$n - 1, 6] | min) | floor | tostring) + "ms"`;

/** kwok's whole configuration file: its options, and the stages of `kwok/*.yaml` with their placeholders filled in. */
export const kwokConfig = async (leaseSeconds: number, delays: Partial<Delays> = {}): Promise<string> => {
  const ms = { ...defaults, ...delays };
  const [node, pod, table] = await Promise.all(
    ['node.yaml', 'pod.yaml', 'pod-state.jq'].map((file) => readFile(join(folder, file), 'utf8')),
  );
  // On one line: a quoted YAML scalar would fold the newlines, and comments would swallow what follows them.
  const state = (table ?? '')
    .replaceAll(/^\s*#.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const stages = [node, pod]
    .join('\n---\n')
    // JSON's quoted strings are YAML's too.
    .replaceAll(/["']@state["']/g, () => JSON.stringify(state))
    .replaceAll(/["']@(start|stop)\(([\d.]+)\)["']/g, (_, key: 'start' | 'stop', factor: string) =>
      JSON.stringify(delay(`${key}-ms`, ms[`${key}Ms`], Number(factor), true)),
    )
    .replaceAll(/["']@die["']/g, () => JSON.stringify(delay('die-ms', ms.dieMs, 1, false)))
    .replaceAll(/["']@back-off["']/g, () => JSON.stringify(backOff(ms.backOffMs)))
    .replaceAll('@unless-cut', '{{ if eq (NodeIPWith .spec.nodeName) NodeIP }}phase: {{ .status.phase }}{{ else }}');
  const options = {
    apiVersion: 'config.kwok.x-k8s.io/v1alpha1',
    kind: 'KwokConfiguration',
    options: {
      manageAllNodes: false,
      manageNodesWithLabelSelector: 'sim.edgeset.io/power=on',
      nodeIP: nowhere,
      cidr: '10.128.0.0/9',
      nodeLeaseDurationSeconds: leaseSeconds,
      nodeLeaseParallelism: 8,
      podPlayStageParallelism: 16,
      nodePlayStageParallelism: 8,
      // Without workers here the pods of a node that is back are never looked at.
      podsOnNodeSyncParallelism: 4,
    },
  };
  return `${JSON.stringify(options)}\n---\n${stages}`;
};
