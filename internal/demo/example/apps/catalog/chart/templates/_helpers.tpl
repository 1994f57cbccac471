{{/* The image by its digest, and by nothing else: without one, rendering fails. */}}
{{- define "catalog.image" -}}
{{ .Values.image.repository }}@{{ required "image.digest says which image to run" .Values.image.digest }}
{{- end }}

{{/* What the Service selects. It never changes, since a Deployment's selector cannot. */}}
{{- define "catalog.selector" -}}
app: catalog
{{- end }}
