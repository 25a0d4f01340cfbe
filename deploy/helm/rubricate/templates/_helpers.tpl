{{- define "rubricate.name" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- /* with "-judge" and the "-" and ten digits that a StatefulSet adds in a label, it is 63 */ -}}
{{- (contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name)) | trunc 46 | trimSuffix "-" -}}
{{- end -}}

{{- /* Labels that select a part's pods: (list . "service") */ -}}
{{- define "rubricate.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ default $root.Chart.Name $root.Values.nameOverride }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "rubricate.labels" -}}
{{- $root := index . 0 -}}
{{ include "rubricate.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- end -}}

{{- define "rubricate.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}

{{- /* The service's settings file: what the chart knows, under what the values say. */ -}}
{{- define "rubricate.settings" -}}
{{- $known := dict "no_auth" .Values.noAuth -}}
{{- if .Values.judge.enabled -}}
{{- $_ := set $known "judge" (printf "dns+http://%s-judge:8000" (include "rubricate.name" .)) -}}
{{- end -}}
{{- if .Values.redis.enabled -}}
{{- $_ := set $known "cache" (printf "redis://%s-redis:6379/0" (include "rubricate.name" .)) -}}
{{- end -}}
{{- toToml (mergeOverwrite $known (deepCopy .Values.settings)) -}}
{{- end -}}

{{- /*
From SIGTERM to SIGKILL, seconds: serving on until nobody sends work, then the requests under way, then closing.
The first two are the service's own settings, with its own defaults.
*/ -}}
{{- define "rubricate.grace" -}}
{{- $settings := .Values.settings -}}
{{- $prestop := ternary $settings.prestop_s 5 (hasKey $settings "prestop_s") -}}
{{- $deadline := default 60 $settings.deadline_s -}}
{{- $drain := default (add (ceil $deadline) 5) $settings.drain_s -}}
{{- add (ceil $prestop) $drain 15 -}}
{{- end -}}

{{- define "rubricate.container-security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{- define "rubricate.variables" -}}
{{- range $name, $value := . -}}
- {name: {{ $name }}, value: {{ $value | toString | quote }}}
{{ end }}
{{- end -}}

{{- /* What cannot work is told before anything is changed. */ -}}
{{- define "rubricate.refusals" -}}
{{- $values := .Values -}}
{{- if and $values.noAuth $values.settings.tokens -}}
{{- fail "settings.tokens says who may ask, noAuth that all may: leave one of them out" -}}
{{- end -}}
{{- if not (or $values.noAuth $values.settings.tokens $values.secretName) -}}
{{- fail "nobody may ask: make a token with `rubricate token new NAME` and put its table into settings.tokens, or set noAuth where the network lets only those in who may" -}}
{{- end -}}
{{- $scaled := ne $values.autoscaling.by "none" -}}
{{- if gt $values.autoscaling.minReplicas $values.autoscaling.maxReplicas -}}
{{- fail "autoscaling.minReplicas is more than autoscaling.maxReplicas" -}}
{{- end -}}
{{- if and (or $scaled (gt (int $values.replicas) 1)) (not (or $values.redis.enabled $values.secretName (hasPrefix "redis" (default "" $values.settings.cache)))) -}}
{{- fail "several replicas need a Redis that they share: set redis.enabled, name one in settings.cache, or run one replica without autoscaling" -}}
{{- end -}}
{{- if and $values.metrics.serviceMonitor (not $values.noAuth) (not $values.metrics.tokenSecret.name) -}}
{{- fail "metrics.serviceMonitor needs metrics.tokenSecret.name: where tokens are needed, /metrics wants one with the scope `admin`" -}}
{{- end -}}
{{- if and $values.judge.enabled $values.settings.judge (not $values.settings.judges) -}}
{{- fail "settings.judge names a judge, and judge.enabled starts another that nobody would ask: leave one of them out" -}}
{{- end -}}
{{- end -}}
