{{- define "lara.labels" -}}
{{ include "lara.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "lara.selector" -}}
app.kubernetes.io/name: lara
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end }}

{{- define "lara.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- /* What a process is told of Kafka and by `settings`; `redis` is the URL and the password of its user. */ -}}
{{- define "lara.environment" -}}
{{- $values := .root.Values -}}
- {name: LARA_BOOTSTRAP, value: {{ $values.kafka.bootstrap | quote }}}
- {name: LARA_KAFKA_SECURITY_PROTOCOL, value: {{ $values.kafka.securityProtocol }}}
{{- if hasPrefix "SASL_" $values.kafka.securityProtocol }}
- {name: LARA_KAFKA_SASL_MECHANISM, value: {{ $values.kafka.saslMechanism }}}
- {name: LARA_KAFKA_SASL_USERNAME, value: {{ $values.kafka.saslUsername | quote }}}
{{- end }}
{{- if $values.kafka.caSecret.name }}
- {name: LARA_KAFKA_SSL_CAFILE, value: /run/secrets/lara/kafka-ca.crt}
{{- end }}
{{- if $values.kafka.clientSecret }}
- {name: LARA_KAFKA_SSL_CERTFILE, value: /run/secrets/lara/kafka-client.crt}
- {name: LARA_KAFKA_SSL_KEYFILE, value: /run/secrets/lara/kafka-client.key}
{{- end }}
{{- with .redis }}
- {name: LARA_REDIS_URL, value: {{ .url | quote }}}
{{- end }}
{{- if include "lara.secretSources" . }}
- {name: LARA_SECRETS, value: /run/secrets/lara}
{{- end }}
- {name: LARA_WORKER_PORT, value: "9101"}
- {name: LARA_EXPORTER_PORT, value: "9102"}
- {name: LARA_CANARY_PORT, value: "9103"}
{{- range $name, $value := $values.settings }}
- {name: LARA_{{ upper $name }}, value: {{ include "lara.text" $value | quote }}}
{{- end }}
{{- end }}

{{- /* A setting as text: Helm reads whole numbers as floats. */ -}}
{{- define "lara.text" -}}
{{- if kindIs "float64" . }}{{ if eq . (floor .) }}{{ int64 . }}{{ else }}{{ . }}{{ end }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{- define "lara.secretSources" -}}
{{- $kafka := .root.Values.kafka -}}
{{- with $kafka.passwordSecret }}{{ if .name }}
- secret: {name: {{ .name }}, items: [{key: {{ .key }}, path: LARA_KAFKA_SASL_PASSWORD}]}
{{- end }}{{ end }}
{{- with $kafka.caSecret }}{{ if .name }}
- secret: {name: {{ .name }}, items: [{key: {{ .key }}, path: kafka-ca.crt}]}
{{- end }}{{ end }}
{{- with $kafka.clientSecret }}
- secret: {name: {{ . }}, items: [{key: tls.crt, path: kafka-client.crt}, {key: tls.key, path: kafka-client.key}]}
{{- end }}
{{- with .redis }}
{{- with .password }}{{ if .name }}
- secret: {name: {{ .name }}, items: [{key: {{ .key }}, path: LARA_REDIS_PASSWORD}]}
{{- end }}{{ end }}
{{- with $.root.Values.redis.caSecret }}{{ if .name }}
- secret: {name: {{ .name }}, items: [{key: {{ .key }}, path: redis-ca.crt}]}
{{- end }}{{ end }}
{{- end }}
{{- end }}

{{- /* The pod of one process: .component, .command, .port (none: a job), .redis, .own (its values), .grace. */ -}}
{{- define "lara.pod" -}}
metadata:
  labels:
    {{- include "lara.labels" . | nindent 4 }}
  {{- with .own.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    seccompProfile: {type: RuntimeDefault}
  terminationGracePeriodSeconds: 20
  {{- if not .port }}
  restartPolicy: OnFailure
  {{- end }}
  containers:
    - name: {{ .component }}
      image: {{ include "lara.image" .root | quote }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: {{ toJson .command }}
      env:
        {{- include "lara.environment" . | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      {{- with .port }}
      ports:
        - {name: metrics, containerPort: {{ . }}}
      startupProbe:
        httpGet: {path: /livez, port: metrics}
        periodSeconds: 2
        failureThreshold: 30
      livenessProbe:
        httpGet: {path: /livez, port: metrics}
        periodSeconds: 10
        timeoutSeconds: 5
      readinessProbe:
        httpGet: {path: /readyz, port: metrics}
        periodSeconds: 5
        timeoutSeconds: 5
      {{- end }}
      {{- with .own.resources }}
      resources:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        - {name: tmp, mountPath: /tmp}
        {{- if include "lara.secretSources" . }}
        - {name: secrets, mountPath: /run/secrets/lara, readOnly: true}
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: {medium: Memory, sizeLimit: 16Mi}
    {{- with include "lara.secretSources" . }}
    - name: secrets
      projected:
        defaultMode: 0440
        sources:
          {{- . | nindent 10 }}
    {{- end }}
  {{- range $name := list "nodeSelector" "tolerations" "affinity" }}
  {{- with get $.own $name }}
  {{ $name }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
{{- end }}

{{- define "lara.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .root.Release.Name }}-{{ .component }}
  labels:
    {{- include "lara.labels" . | nindent 4 }}
spec:
  {{- with .replicas }}
  replicas: {{ . }}
  {{- end }}
  # One stops before its successor starts: a worker that comes first may get no partition and never be ready.
  strategy:
    rollingUpdate: {maxSurge: 0, maxUnavailable: 1}
  selector:
    matchLabels:
      {{- include "lara.selector" . | nindent 6 }}
  template:
    {{- include "lara.pod" . | nindent 4 }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .root.Release.Name }}-{{ .component }}
  labels:
    {{- include "lara.labels" . | nindent 4 }}
    lara/job: {{ .job }}
spec:
  clusterIP: None
  publishNotReadyAddresses: true  # what is not ready has metrics too
  selector:
    {{- include "lara.selector" . | nindent 4 }}
  ports:
    - {name: metrics, port: {{ .port }}, targetPort: metrics}
{{- end }}
