{{- /* What the manager may do, by the task that it is for. */ -}}

{{- define "edgeset.rules.nodes" -}}
# Read which nodes are eligible for a DaemonSet, and which of them are online.
- apiGroups: [""]
  resources: [nodes]
  verbs: [list, watch]
# Read the rollout plans that DaemonSets of all namespaces may name.
- apiGroups: [edgeset.io]
  resources: [clusterrolloutplans]
  verbs: [get, list, watch]
{{- end -}}

{{- define "edgeset.rules.manager" -}}
# Find the DaemonSets that opted in, and those with the selector of an Advanced DaemonSet. get: see whether one opted out or is
# gone. patch: restore an earlier template in a rollback.
- apiGroups: [apps]
  resources: [daemonsets]
  verbs: [get, list, watch, patch]
# Write the conditions Ready, Reconciling, Stalled and Paused of a DaemonSet that opted in, for tools that judge the DaemonSet
# alone. Without this permission, rollouts still work.
- apiGroups: [apps]
  resources: [daemonsets/status]
  verbs: [patch]
# Read the target revision. get: read the template that a rollback restores.
- apiGroups: [apps]
  resources: [controllerrevisions]
  verbs: [get, list, watch]
# Read what runs where. delete: replace a pod. patch: fence a pod, so that a delete which an earlier leader may still send
# fails. get: read the outcome of a write whose response was lost.
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch, delete, patch]
# Write conditions of pods: PodNeedUpgrade offers a revision to the owner of the node, PodImageReady
# requests images and reports the result.
- apiGroups: [""]
  resources: [pods/status]
  verbs: [patch]
# The DaemonRollout of each DaemonSet. Created once, read when a leader takes over, and watched, because others may delete it
# and because the object of a DaemonSet that opted out must say so. Garbage collection removes it; delete: remove the one that
# a DaemonSet left behind when it was deleted with --cascade=orphan. update: reserve slots with a compare-and-swap.
- apiGroups: [edgeset.io]
  resources: [daemonrollouts]
  verbs: [get, list, watch, create, delete]
- apiGroups: [edgeset.io]
  resources: [daemonrollouts/status]
  verbs: [update]
# Read the rollout plans that DaemonSets name, and who approved which stage.
- apiGroups: [edgeset.io]
  resources: [rolloutplans, rolloutapprovals]
  verbs: [get, list, watch]
# Events on DaemonSets, in their namespaces. patch: count a repeated Event.
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
{{- end -}}

{{- define "edgeset.rules.advanced" -}}
# The DaemonSets themselves. update: restore an earlier template in a rollback. patch: set the finalizer of a DaemonSet with a
# preDelete hook.
- apiGroups: [apps.kruise.io]
  resources: [daemonsets]
  verbs: [get, list, watch, update, patch]
- apiGroups: [apps.kruise.io]
  resources: [daemonsets/status]
  verbs: [patch]
# Owner references with blockOwnerDeletion: an admission plugin requires this permission for them.
- apiGroups: [apps.kruise.io]
  resources: [daemonsets/finalizers]
  verbs: [update]
# Validate and default a template with the dry run of a PodTemplate. No PodTemplate is ever stored.
- apiGroups: [""]
  resources: [podtemplates]
  verbs: [create]
# One ControllerRevision for each template, created, or adopted from a native DaemonSet. The oldest are deleted.
- apiGroups: [apps]
  resources: [controllerrevisions]
  verbs: [create, patch, delete]
# Create pods, and update them in place. (deploy/rbac.yaml allows to get, list, watch, delete and patch pods, and to patch
# their status.)
- apiGroups: [""]
  resources: [pods]
  verbs: [create]
- apiGroups: [""]
  resources: [pods/resize]
  verbs: [patch]
{{- end -}}

{{- define "edgeset.rules.openkruise" -}}
# See whether OpenKruise's manager holds its Lease: until it is released, no Advanced DaemonSet is updated.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [kruise-manager]
  verbs: [get]
{{- end -}}

{{- define "edgeset.rules.analysis" -}}
# Create the AnalysisRun of a check from its template, and read what came of it.
- apiGroups: [argoproj.io]
  resources: [analysisruns]
  verbs: [get, create]
- apiGroups: [argoproj.io]
  resources: [analysistemplates]
  verbs: [get]
{{- end -}}

{{- define "edgeset.rules.clusterAnalysis" -}}
- apiGroups: [argoproj.io]
  resources: [clusteranalysistemplates]
  verbs: [get]
{{- end -}}

{{- define "edgeset.rules.predownload" -}}
# A short-lived pod pulls the images of an update. RBAC can't
# restrict which pods; policy.yaml does: these run nothing, and the restricted Pod Security Standard accepts them.
- apiGroups: [""]
  resources: [pods]
  verbs: [create]
{{- end -}}

{{- /* For the policy, in CEL: the versions of Advanced DaemonSets, if they are served. */ -}}
{{- define "edgeset.advancedVersions" -}}
{{- if has "advanced" .Values.controllers -}}
['apps.kruise.io/v1alpha1', 'apps.kruise.io/v1beta1']
{{- else -}}
[]
{{- end -}}
{{- end -}}

{{- /* For the policy, as JSON: namespaces in which the manager changes nothing. Those that it is told to serve are none of them. */ -}}
{{- define "edgeset.excludedNamespaces" -}}
{{- $served := .Values.namespaces -}}
{{- if .Values.agent.enabled }}{{ $served = append $served .Values.agent.namespace }}{{ end -}}
{{- $excluded := list -}}
{{- range append .Values.admissionPolicies.excludedNamespaces .Release.Namespace | uniq -}}
{{- if not (has . $served) }}{{ $excluded = append $excluded . }}{{ end -}}
{{- end -}}
{{- toJson $excluded -}}
{{- end -}}
