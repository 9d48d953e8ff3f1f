{{- define "edgeset.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 45 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 45 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- /* Selectors can't be changed, so these never do. (list ROOT COMPONENT) */ -}}
{{- define "edgeset.selectorLabels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: edgeset
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- /* (list ROOT COMPONENT) */ -}}
{{- define "edgeset.labels" -}}
{{- $root := index . 0 -}}
{{ include "edgeset.selectorLabels" . }}
app.kubernetes.io/part-of: edgeset
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* (list ROOT IMAGE), where IMAGE overrides registry and tag of both images. */ -}}
{{- define "edgeset.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- $registry := $image.registry | default $root.Values.image.registry -}}
{{- with $registry }}{{ trimSuffix "/" . }}/{{ end -}}
{{- $image.repository -}}
:{{ $image.tag | default $root.Values.image.tag | default $root.Chart.AppVersion -}}
{{- with $image.digest }}@{{ . }}{{ end -}}
{{- end -}}

{{- /* Name of the Lease, which a flag may change. */ -}}
{{- define "edgeset.lease" -}}
{{- $flag := "--leader-election-id=" -}}
{{- $name := "edgeset-manager" -}}
{{- range .Values.manager.extraArgs }}{{ if hasPrefix $flag . }}{{ $name = trimPrefix $flag . }}{{ end }}{{ end -}}
{{- $name -}}
{{- end -}}

{{- /* Namespaces that the manager serves, as JSON; empty for all. It also updates the agents, which are a DaemonSet. */ -}}
{{- define "edgeset.namespaces" -}}
{{- $namespaces := .Values.namespaces -}}
{{- if and $namespaces .Values.agent.enabled -}}
{{- $namespaces = append $namespaces .Values.agent.namespace | uniq -}}
{{- end -}}
{{- toJson $namespaces -}}
{{- end -}}

{{- /*
Gives the manager's ServiceAccount some rules: everywhere, or in each namespace that it serves.
(dict "root" ROOT "name" NAME "rules" RULES "comment" COMMENT)
*/ -}}
{{- define "edgeset.grant" -}}
{{- $root := .root -}}
{{- $given := . -}}
{{- $namespaces := include "edgeset.namespaces" $root | fromJsonArray -}}
{{- range $index, $namespace := $namespaces | default (list "") }}
{{- if gt $index 0 }}
---
{{ end -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ if $namespace }}Role{{ else }}ClusterRole{{ end }}
metadata:
  name: {{ $given.name }}
  {{- with $namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "edgeset.labels" (list $root "manager") | nindent 4 }}
rules:
  {{- $given.rules | nindent 2 }}
---
{{ include "edgeset.binding" (dict "root" $root "name" $given.name "namespace" $namespace) }}
{{- end }}
{{- end -}}

{{- /* Binds a role of the same name to the manager's ServiceAccount; a ClusterRole if there is no namespace. */ -}}
{{- define "edgeset.binding" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ if .namespace }}RoleBinding{{ else }}ClusterRoleBinding{{ end }}
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "edgeset.labels" (list .root "manager") | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ if .namespace }}Role{{ else }}ClusterRole{{ end }}
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: edgeset-manager
    namespace: {{ .root.Release.Namespace }}
{{- end -}}

{{- /* What the agents' roles are bound to. */ -}}
{{- define "edgeset.agents" -}}
- kind: ServiceAccount
  name: edgeset-agent
  namespace: {{ .Values.agent.namespace }}
# Agents that run as systemd units and authenticate with a client certificate.
- kind: Group
  apiGroup: rbac.authorization.k8s.io
  name: edgeset:agents
{{- end -}}
