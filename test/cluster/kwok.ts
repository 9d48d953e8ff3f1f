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

// What stages have in common, by its word; each stands on its own line.
const SHARED: Readonly<Record<string, string>> = {
  // `$parts`: sidecars and containers of the spec by name.
  parts: `{{ $parts := dict }}
{{ range .spec.initContainers }}{{ if eq (get . "restartPolicy") "Always" }}{{ $_ := set $parts .name . }}{{ end }}{{ end }}
{{ range .spec.containers }}{{ $_ := set $parts .name . }}{{ end }}`,
  // Every status of both lists; `$c` is the copy that is written.
  each: `{{ range $list := list "initContainerStatuses" "containerStatuses" }}
{{ with get $.status $list }}
{{ $list }}:
{{ range . }}
{{ $c := deepCopy . }}`,
  'end-each': `- {{ toJson $c }}
{{ end }}
{{ end }}
{{ end }}`,
  // `$pass`: whether all readiness gates are open; `$is`: the pod's conditions by type.
  gates: `{{ $is := dict }}
{{ range .status.conditions }}{{ $_ := set $is .type .status }}{{ end }}
{{ $pass := "True" }}
{{ range .spec.readinessGates }}{{ if ne (get $is .conditionType) "True" }}{{ $pass = "False" }}{{ end }}{{ end }}`,
  // Those of a bad image crash; all do when it is the pod that is bad.
  crashed: `{{ $now := Now }}
{{ $uid := .metadata.uid }}
{{ $bad := "--(crash-loop|dies-after-ready)$" }}
{{ $some := false }}
@parts
{{ range $_, $part := $parts }}{{ if regexMatch $bad $part.image }}{{ $some = true }}{{ end }}{{ end }}
phase: Running
conditions:
- { type: Ready, status: "False", reason: ContainersNotReady, lastTransitionTime: {{ $now | Quote }} }
- { type: ContainersReady, status: "False", reason: ContainersNotReady, lastTransitionTime: {{ $now | Quote }} }
@each
{{ if and (hasKey $parts .name) (or (not $some) (regexMatch $bad (get $parts .name).image)) }}
{{ $image := (get $parts .name).image }}
@restarts
{{ $id := printf "%s/%s/%v" $uid .name $restarts | sha256sum | printf "containerd://%s" }}
{{ $end := dict "exitCode" 1 "reason" "Error" "startedAt" $now "finishedAt" $now "containerID" $id }}
{{ $why := printf "back-off restarting failed container %s" .name }}
{{ $_ := set $c "state" (dict "waiting" (dict "reason" "CrashLoopBackOff" "message" $why)) }}
{{ $_ := set $c "lastState" (dict "terminated" $end) }}
{{ $_ := set $c "restartCount" (add1 $restarts) }}
{{ $_ := set $c "containerID" $id }}
{{ $_ := set $c "image" $image }}
{{ $_ := set $c "imageID" @image-id($image) }}
{{ $_ := set $c "ready" false }}
{{ $_ := set $c "started" false }}
{{ else if .state.waiting }}
@started
{{ end }}
@end-each`,
  // `$restarts`: of the container that runs next, or that does run. What crashed has been counted then.
  restarts: `{{ $restarts := .restartCount }}
{{ if and .containerID .state.waiting }}{{ if ne .state.waiting.reason "CrashLoopBackOff" }}{{ $restarts = add1 $restarts }}{{ end }}{{ end }}`,
  // Another container runs in the place of the one that waits.
  started: `{{ $part := get $parts .name }}
@restarts
{{ $_ := set $c "state" (dict "running" (dict "startedAt" $now)) }}
{{ $_ := set $c "containerID" (printf "%s/%s/%v" $uid .name $restarts | sha256sum | printf "containerd://%s") }}
{{ $_ := set $c "image" $part.image }}
{{ $_ := set $c "imageID" @image-id($part.image) }}
{{ $_ := set $c "restartCount" $restarts }}
{{ $_ := set $c "resources" (or (get $part "resources") dict) }}
{{ $_ := set $c "started" true }}`,
};

/** The template with shared parts in their places, at the indentation of their words. */
const withShared = (text: string): string => {
  const next = text.replaceAll(/^( *)@([a-z-]+)$/gm, (line, indent: string, word: string) => {
    const part = SHARED[word];
    return part === undefined ? line : part.replaceAll(/^/gm, indent);
  });
  return next === text ? text : withShared(next);
};

// `app:v2.is-v1` is another name of `app:v1`.
const imageId = (expression: string): string =>
  `(printf "sha256:%s" (sha256sum (regexReplaceAll ":[^:/]*\\\\.is-" ${expression} ":")))`;

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
  const stages = withShared([node, pod].join('\n---\n'))
    .replaceAll(/@image-id\(([^)]+)\)/g, (_, expression: string) => imageId(expression))
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
      // On a busy machine each renewal takes a second: with a few at a time, those of fifty nodes come too late.
      nodeLeaseParallelism: 32,
      podPlayStageParallelism: 16,
      nodePlayStageParallelism: 8,
      // Without workers here the pods of a node that is back are never looked at.
      podsOnNodeSyncParallelism: 4,
    },
  };
  return `${JSON.stringify(options)}\n---\n${stages}`;
};
