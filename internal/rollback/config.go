package rollback

// configCompatible: the old manifests are known, what they refer to exists, and
// the API server still serves their versions.
func configCompatible(c Config) findings {
	var f findings
	if c.OldManifests != Recorded || c.Refs == nil || c.APIs == nil {
		f.unknown("old-manifests-missing")
	}
	for _, ref := range c.Refs {
		f.ref(ref)
	}
	for _, api := range c.APIs {
		f.state(api.Served, No, "api-not-served:"+api.API, "api-unread:"+api.API, Yes)
	}
	return f
}

func (f *findings) ref(ref Ref) {
	if ref.Optional {
		return
	}
	object := ref.Kind + "/" + ref.Name
	whole := object
	if ref.Key != "" {
		whole += "/" + ref.Key
	}
	switch ref.State {
	case Present:
	case ObjectAbsent:
		f.no("config-object-absent:" + object)
	case KeyAbsent:
		f.no("config-key-absent:" + whole)
	default:
		f.unknown("config-ref-unread:" + whole)
	}
}
