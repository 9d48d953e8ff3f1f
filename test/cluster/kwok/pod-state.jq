# Which stage a pod is due for: the whole of a simulated kubelet's judgement, as one table. The stages of pod.yaml match
# on the word that comes out; a pod without a stage of that name ("none") rests.
def annotation($key): .metadata.annotations["sim.edgeset.io/" + $key];
# A pod of a bad version says so in its annotations (from the DaemonSet's template, or set by the admission policy for
# one node), or in its image's tag, which also reaches pods that are updated in place: "app:v2--crash-loop".
# Sidecars run beside the containers; what is in no such list has run before.
def parts: [.spec.initContainers[]? | select(.restartPolicy == "Always")] + .spec.containers;
def of_image: [parts[] | (.image | capture("--(?<b>[a-z-]+)$").b)?][0];
def behaviour: annotation("behaviour") // of_image // "ready";
def statuses:
  [parts[].name] as $names
  | [.status.initContainerStatuses[]? | select(.name as $name | any($names[]; . == $name))] + (.status.containerStatuses // []);
def waiting: [statuses[].state.waiting.reason? // empty];
def by_name: [.[] | {(.name): .}] | add // {};
def image_changed:
  (parts | by_name) as $wanted | any(statuses[]; .state.running != null and .image != $wanted[.name].image);
def amounts: [(.limits // {}), (.requests // {})];
def resized:
  (parts | by_name) as $wanted
  | any(statuses[]; .state.running != null and .resources != null and
    (.resources | amounts) != ($wanted[.name].resources // {} | amounts));
# No image has a program there: it is pulled, its container created, and not started.
def cannot_start:
  .spec.restartPolicy == "Never" and all(.spec.containers[]; ((.command // [""])[0] | startswith("/edgeset.io/")));
def condition($type): [.status.conditions[]? | select(.type == $type) | .status][0];
def is_ready: condition("Ready") == "True";
def gates_pass: . as $pod | all(.spec.readinessGates[]?; .conditionType as $type | ($pod | condition($type)) == "True");

behaviour as $b
| if .metadata.deletionTimestamp != null then
    if $b == "stuck-terminating" then "none"
    elif (statuses | length) > 0 and all(statuses[]; .state.terminated != null) then "pod-remove"
    else "pod-stop" end
  elif .status.phase == "Failed" or .status.phase == "Succeeded" then "none"
  elif (statuses | length) == 0 then "pod-admit"
  elif image_changed then "pod-image-change"
  elif (waiting | length) > 0 then
    if $b == "not-pullable" then
      (if any(waiting[]; . == "ImagePullBackOff") then "none"
       elif any(waiting[]; . == "ErrImagePull") then "pod-pull-back-off"
       else "pod-pull-fail" end)
    elif cannot_start then "pod-start-fail"
    elif any(waiting[]; . == "CrashLoopBackOff") and ($b == "crash-loop" or $b == "dies-after-ready") then "pod-crash-again"
    elif $b == "crash-loop" then "pod-crash"
    else "pod-start" end
  elif resized then
    (if annotation("resize") == "infeasible" or annotation("resize") == "deferred" then
      (if condition("PodResizePending") == "True" then "none" else "pod-resize-refuse" end)
     elif condition("PodResizeInProgress") == "True" then "pod-resize"
     else "pod-resize-begin" end)
  elif condition("PodResizePending") == "True" or condition("PodResizeInProgress") == "True" then "pod-resize-end"
  elif $b == "crash-loop" then "pod-crash"
  elif $b == "never-ready" then
    if is_ready or any(statuses[]; .ready) then "pod-probe-fail" else "none" end
  elif any(statuses[]; .ready | not) then "pod-probe"
  elif is_ready != gates_pass then (if condition("ContainersReady") == "True" then "pod-gate" else "pod-probe" end)
  elif $b == "dies-after-ready" then "pod-die"
  elif $b == "failed" then "pod-fail"
  elif $b == "kills-node" then "pod-kill-node"
  else "none" end
