package rollback

// dependencyRecoverable: what old needs from outside is there, and what current
// has sent there does no harm to it.
func dependencyRecoverable(d Dependency) findings {
	var f findings
	if d.ExternalSecrets == nil {
		f.unknown("secret-store-unread")
	}
	for _, s := range d.ExternalSecrets {
		f.state(s.StoreReady, No, "secret-store-not-ready:"+s.Name, "secret-store-unread:"+s.Name, Yes)
		f.state(s.RemoteKey, Absent, "remote-key-absent:"+s.Name, "remote-key-unread:"+s.Name, Present)
	}
	if d.SealedSecrets == nil {
		f.unknown("sealed-secret-unread")
	}
	for _, s := range d.SealedSecrets {
		f.state(s.Decryptable, No, "sealed-secret-undecryptable:"+s.Name, "sealed-secret-unread:"+s.Name, Yes)
	}
	for _, t := range d.Targets {
		f.state(t.Healthy, No, "dependency-not-healthy:"+t.Target, "dependency-unread:"+t.Target, Yes)
	}
	for _, m := range d.Metrics {
		f.state(m.Kept, No, "dependency-metric-broken:"+m.Name, "dependency-metric-unread:"+m.Name, Yes)
	}
	f.state(d.Messages, Incompatible, "messages-incompatible", "messages-unattested", Compatible, NotUsed, NotRequired, NotAsked)
	f.state(d.Cache, Incompatible, "cache-incompatible", "cache-unattested", Compatible, NotUsed, NotRequired, NotAsked)
	f.state(d.ExternalEffects, Irreversible, "external-effects-irreversible", "external-effects-unattested", None, Recoverable, NotRequired, NotAsked)
	return f
}
