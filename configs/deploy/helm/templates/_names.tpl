{{- define "hearsay.labels" -}}
app.kubernetes.io/name: hearsay
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "hearsay.name" -}}
{{ .Release.Name | trunc 48 | trimSuffix "-" }}
{{- end }}
{{- define "hearsay.probe" -}}
exec:
  command:
    - sh
    - -c
    - hearsay status --state /var/lib/hearsay >/dev/null || [ $? -eq 3 ]
{{- end }}
{{- /* Numbers of a values file are floating point: 400000 is not to become 4e+05. */}}
{{- define "hearsay.value" -}}
{{- if and (kindIs "float64" .) (eq . (floor .)) }}{{ int64 . }}
{{- else if kindIs "bool" . }}{{ ternary "yes" "no" . }}
{{- else }}{{ . }}
{{- end }}
{{- end }}
