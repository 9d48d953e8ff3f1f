#!/bin/sh
# Usage: drain-before-delete.sh COMMAND [ARGUMENT...]
#
# The user's side of a preDelete hook. For each pod that is about to be deleted, and that carries label $HOLD_LABEL
# (default example.com/drain), it runs COMMAND with the arguments and the pod's name, and once that has succeeded takes the
# label off: then the pod is deleted. What fails is tried again. $NAMESPACE: default default.
set -eu
[ $# -gt 0 ] || { echo "usage: $0 COMMAND [ARGUMENT...]" >&2; exit 2; }
hold=${HOLD_LABEL:-example.com/drain}
namespace=${NAMESPACE:-default}
state=lifecycle.apps.kruise.io/state
at_work=$(mktemp -d)
trap 'rm -rf "$at_work"' EXIT
trap 'exit 0' INT TERM

pointer() { printf '/metadata/labels/%s' "$(printf %s "$1" | sed 's|/|~1|g')"; }

# The pod stays held when its deletion was taken back meanwhile, and so does another one of the same name.
let_go() {
  kubectl -n "$namespace" patch pod "$2" --type=json -p "[
    {\"op\": \"test\", \"path\": \"/metadata/uid\", \"value\": \"$1\"},
    {\"op\": \"test\", \"path\": \"$(pointer "$state")\", \"value\": \"PreparingDelete\"},
    {\"op\": \"remove\", \"path\": \"$(pointer "$hold")\"}]"
}

# Lists again every minute: so nothing that failed, or that a broken watch has lost, waits for longer.
while :; do
  kubectl -n "$namespace" get pods --selector="$state=PreparingDelete,$hold" --watch --output-watch-events \
    --request-timeout=60s --output='jsonpath={.type} {.object.metadata.uid} {.object.metadata.name}{"\n"}' |
    while read -r event uid pod; do
      [ "$event" != DELETED ] || continue
      mkdir "$at_work/$uid" 2>/dev/null || continue
      { "$@" "$pod" && let_go "$uid" "$pod"; } || rmdir "$at_work/$uid" &
    done &
  wait "$!" || true
  sleep 1
done
