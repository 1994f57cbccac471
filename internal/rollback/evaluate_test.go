package rollback_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/rollback"
)

// good returns facts with nothing against the rollback; change alters them.
func good(change func(*rollback.Facts)) rollback.Facts {
	number := func(n int) *int { return &n }
	no := false
	f := rollback.Facts{
		Artifact: rollback.Artifact{ImageManifest: rollback.Present, MissingLayers: number(0),
			ImagePlatforms: []string{"linux/amd64"}, NeededPlatforms: []string{"linux/amd64"}, Chart: rollback.NotUsed},
		Config: rollback.Config{OldManifests: rollback.Recorded,
			Refs: []rollback.Ref{{Kind: "Secret", Name: "db", State: rollback.Present}},
			APIs: []rollback.API{{API: "apps/v1/Deployment", Served: rollback.Yes}}},
		Data: rollback.Data{MigrationList: rollback.Complete, SchemaState: rollback.Clean, RollbackRunsDown: &no,
			Migrations: []rollback.Migration{{ID: "m", Verdict: rollback.Compatible, Reversible: rollback.Yes, DeclaredReversible: rollback.Missing}},
			NewData:    rollback.None},
		Traffic: rollback.Traffic{Strategy: rollback.RollingUpdate, OldStack: rollback.NotUsed, SelectorUnchanged: rollback.Yes,
			ServiceSelectsOld: rollback.Yes, ReadinessProbe: rollback.Yes, Replicas: number(3), MaxUnavailable: number(0),
			SurgeRoom: rollback.Yes, SwitchEvictsPods: &no, PDBDisruptionsAllowed: number(1)},
		Dependency: rollback.Dependency{ExternalSecrets: []rollback.ExternalSecret{{Name: "es", StoreReady: rollback.Yes, RemoteKey: rollback.Present}},
			SealedSecrets: []rollback.SealedSecret{{Name: "ss", Decryptable: rollback.Yes}},
			Messages:      rollback.Compatible, Cache: rollback.NotUsed, ExternalEffects: rollback.Recoverable},
	}
	change(&f)
	return f
}

func reasons(v rollback.Verdict) []string {
	p := v.Predicates
	return slices.Concat(p.ArtifactAvailable.Reasons, p.ConfigCompatible.Reasons, p.DataCompatible.Reasons,
		p.TrafficSwitchable.Reasons, p.DependencyRecoverable.Reasons)
}

// TestNothingReadIsUnknownThroughout: no fact at all gives no yes and no no.
func TestNothingReadIsUnknownThroughout(t *testing.T) {
	t.Parallel()
	v := rollback.Evaluate(rollback.Facts{})
	for name, p := range map[string]rollback.Predicate{
		"artifact": v.Predicates.ArtifactAvailable, "config": v.Predicates.ConfigCompatible, "data": v.Predicates.DataCompatible,
		"traffic": v.Predicates.TrafficSwitchable, "dependency": v.Predicates.DependencyRecoverable,
	} {
		if p.Value != rollback.Unknown || len(p.Reasons) == 0 {
			t.Errorf("%s is %s for %v", name, p.Value, p.Reasons)
		}
	}
	if v.Overall != rollback.UnknownOverall || v.Gate != rollback.Blocked {
		t.Errorf("overall %s, gate %s", v.Overall, v.Gate)
	}
}

func TestReasons(t *testing.T) {
	t.Parallel()
	yes := true
	zero, one := 0, 1
	sideBySide := func(f *rollback.Facts, stack rollback.State) {
		f.Traffic.Strategy, f.Traffic.OldStack = rollback.Canary, stack
		f.Traffic.SelectorUnchanged, f.Traffic.ReadinessProbe, f.Traffic.SurgeRoom = rollback.No, rollback.No, rollback.No
	}
	for name, c := range map[string]struct {
		change func(*rollback.Facts)
		want   []string
	}{
		"nothing against it":       {func(*rollback.Facts) {}, nil},
		"no manifest, so no layer": {func(f *rollback.Facts) { f.Artifact = rollback.Artifact{ImageManifest: rollback.Absent} }, []string{"chart-unread", "image-manifest-absent"}},
		"platforms unread":         {func(f *rollback.Facts) { f.Artifact.NeededPlatforms = nil }, []string{"platforms-unread"}},
		"two platforms, one twice": {func(f *rollback.Facts) {
			f.Artifact.NeededPlatforms = []string{"linux/s390x", "linux/arm64", "linux/s390x"}
		}, []string{"image-platform-missing:linux/arm64", "image-platform-missing:linux/s390x"}},
		"a state nobody knows": {func(f *rollback.Facts) { f.Artifact.Chart = "perhaps" }, []string{"chart-unread"}},
		"no of refs unread":    {func(f *rollback.Facts) { f.Config.Refs = nil }, []string{"old-manifests-missing"}},
		"a dependency is ill": {func(f *rollback.Facts) {
			f.Dependency.Targets = []rollback.DependedTarget{{Target: "payments/prod", Healthy: rollback.No}, {Target: "identity/prod", Healthy: rollback.Yes}, {Target: "mail/prod"}}
			f.Dependency.Metrics = []rollback.DependedMetric{{Name: "lag", Kept: rollback.No}, {Name: "errors", Kept: rollback.Unread}, {Name: "load", Kept: rollback.Yes}}
		}, []string{"dependency-metric-broken:lag", "dependency-metric-unread:errors", "dependency-not-healthy:payments/prod", "dependency-unread:mail/prod"}},
		"whole object unread": {func(f *rollback.Facts) { f.Config.Refs[0].State = rollback.Unread }, []string{"config-ref-unread:Secret/db"}},
		"API unread":          {func(f *rollback.Facts) { f.Config.APIs[0].Served = rollback.Unread }, []string{"api-unread:apps/v1/Deployment"}},
		"half applied":        {func(f *rollback.Facts) { f.Data.SchemaState = rollback.HalfApplied }, []string{"schema-half-applied"}},
		"list unread, one known": {func(f *rollback.Facts) {
			f.Data.MigrationList = rollback.Unread
			f.Data.Migrations[0].Verdict = rollback.Breaking
		}, []string{"migration-breaking:m", "migration-list-unread"}},
		"author declares the no": {func(f *rollback.Facts) {
			f.Data.RollbackRunsDown = &yes
			f.Data.Migrations[0].DeclaredReversible = rollback.No
		}, []string{"migration-not-reversible:m"}},
		"nobody knows the way back": {func(f *rollback.Facts) {
			f.Data.RollbackRunsDown = &yes
			f.Data.Migrations[0].Reversible = rollback.Unknown
		}, []string{"migration-reversible-unknown:m"}},
		"author knows the way back": {func(f *rollback.Facts) {
			f.Data.RollbackRunsDown = &yes
			f.Data.Migrations[0] = rollback.Migration{ID: "m", Verdict: rollback.Breaking, Reversible: rollback.Unknown, DeclaredReversible: rollback.Yes}
		}, nil},
		"downs unread, fine both ways": {func(f *rollback.Facts) { f.Data.RollbackRunsDown = nil }, nil},
		"downs unread, fine one way": {func(f *rollback.Facts) {
			f.Data.RollbackRunsDown = nil
			f.Data.Migrations[0].Verdict = rollback.Breaking
		}, []string{"migration-unknown:m"}},
		"canary still runs":           {func(f *rollback.Facts) { sideBySide(f, rollback.Running) }, nil},
		"canary unread":               {func(f *rollback.Facts) { sideBySide(f, rollback.Unread) }, []string{"old-stack-unread"}},
		"canary scaled down":          {func(f *rollback.Facts) { sideBySide(f, rollback.ScaledDown) }, []string{"deployment-selector-changed", "no-room-for-surge", "readiness-probe-absent"}},
		"canary deleted":              {func(f *rollback.Facts) { sideBySide(f, rollback.Deleted) }, []string{"no-room-for-surge", "readiness-probe-absent"}},
		"no replicas":                 {func(f *rollback.Facts) { f.Traffic.Replicas = &zero }, []string{"no-replicas"}},
		"strategy unread":             {func(f *rollback.Facts) { f.Traffic.Strategy = "" }, []string{"strategy-unread"}},
		"limit unread, no room":       {func(f *rollback.Facts) { f.Traffic.MaxUnavailable = nil; f.Traffic.SurgeRoom = rollback.No }, []string{"surge-room-unread"}},
		"limit unread, room":          {func(f *rollback.Facts) { f.Traffic.MaxUnavailable = nil }, nil},
		"one may be missing, no room": {func(f *rollback.Facts) { f.Traffic.MaxUnavailable = &one; f.Traffic.SurgeRoom = rollback.No }, nil},
		"recreate needs no room":      {func(f *rollback.Facts) { f.Traffic.Strategy = rollback.Recreate; f.Traffic.SurgeRoom = rollback.No }, []string{"recreate-downtime"}},
		"eviction unread, budget 0":   {func(f *rollback.Facts) { f.Traffic.SwitchEvictsPods = nil; f.Traffic.PDBDisruptionsAllowed = &zero }, []string{"pdb-unread"}},
		"eviction unread, budget 1":   {func(f *rollback.Facts) { f.Traffic.SwitchEvictsPods = nil }, nil},
		"evicts, budget unread":       {func(f *rollback.Facts) { f.Traffic.SwitchEvictsPods = &yes; f.Traffic.PDBDisruptionsAllowed = nil }, []string{"pdb-unread"}},
		"secret lists unread":         {func(f *rollback.Facts) { f.Dependency.ExternalSecrets, f.Dependency.SealedSecrets = nil, nil }, []string{"sealed-secret-unread", "secret-store-unread"}},
		"store down, key unread": {func(f *rollback.Facts) {
			f.Dependency.ExternalSecrets[0].StoreReady = rollback.No
			f.Dependency.ExternalSecrets[0].RemoteKey = rollback.Unread
		}, []string{"remote-key-unread:es", "secret-store-not-ready:es"}},
		"nobody has to attest": {func(f *rollback.Facts) {
			f.Dependency.Messages, f.Dependency.Cache, f.Dependency.ExternalEffects = rollback.NotRequired, rollback.NotRequired, rollback.NotRequired
		}, nil},
		"nobody said whether to attest": {func(f *rollback.Facts) {
			f.Dependency.Messages, f.Dependency.Cache, f.Dependency.ExternalEffects = rollback.NotAsked, rollback.NotAsked, rollback.NotAsked
			f.Dependency.ExternalSecrets[0].StoreReady = rollback.Unread
		}, []string{"secret-store-unread:es"}},
		"attested against": {func(f *rollback.Facts) {
			f.Dependency.Messages, f.Dependency.Cache = rollback.Incompatible, rollback.Incompatible
		}, []string{"cache-incompatible", "messages-incompatible"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := reasons(rollback.Evaluate(good(c.change)))
			if len(c.want)+len(got) > 0 && !slices.Equal(c.want, got) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			for _, reason := range got {
				if rollback.Explain(reason) == reason {
					t.Errorf("%s is not explained", reason)
				}
			}
		})
	}
}

func TestAcceptances(t *testing.T) {
	t.Parallel()
	unattested := func(f *rollback.Facts) {
		f.Dependency.Messages, f.Dependency.Cache = rollback.Missing, rollback.Incompatible
	}
	for name, c := range map[string]struct {
		acceptance rollback.Acceptance
		refused    []string
	}{
		"counts":              {rollback.Acceptance{Unknown: "messages-unattested", RequestedBy: "ivo", AcceptedBy: "noor", Reason: "drained"}, []string{}},
		"nobody accepted":     {rollback.Acceptance{Unknown: "messages-unattested", RequestedBy: "ivo", Reason: "drained"}, []string{"acceptance-same-person:messages-unattested"}},
		"same person first":   {rollback.Acceptance{Unknown: "nothing", RequestedBy: "ivo", AcceptedBy: "ivo "}, []string{"acceptance-same-person:nothing"}},
		"then the reason":     {rollback.Acceptance{Unknown: "nothing", RequestedBy: "ivo", AcceptedBy: "noor", Reason: "\t\n"}, []string{"acceptance-without-reason:nothing"}},
		"a no":                {rollback.Acceptance{Unknown: "cache-incompatible", RequestedBy: "ivo", AcceptedBy: "noor", Reason: "so"}, []string{"acceptance-of-a-no:cache-incompatible"}},
		"something else":      {rollback.Acceptance{Unknown: "chart-unread", RequestedBy: "ivo", AcceptedBy: "noor", Reason: "so"}, []string{"acceptance-names-nothing:chart-unread"}},
		"only part of a name": {rollback.Acceptance{Unknown: "messages", RequestedBy: "ivo", AcceptedBy: "noor", Reason: "so"}, []string{"acceptance-names-nothing:messages"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			facts := good(unattested)
			facts.Acceptances = []rollback.Acceptance{c.acceptance}
			v := rollback.Evaluate(facts)
			if diff := cmp.Diff(c.refused, v.RefusedAcceptances); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
			if v.Overall != rollback.Unsafe || v.Gate != rollback.Blocked || !slices.Equal(v.Blocking, []string{"cache-incompatible"}) {
				t.Errorf("an acceptance changed the verdict: %+v", v)
			}
		})
	}
}

// TestUnchecked: what was never connected is not judged and is said to be so; what
// speaks against a rollback counts even so.
func TestUnchecked(t *testing.T) {
	t.Parallel()
	v := rollback.Evaluate(good(func(f *rollback.Facts) {
		f.Traffic = rollback.Traffic{}
		f.Unchecked = []string{rollback.TrafficSwitchable}
	}))
	if v.Predicates.TrafficSwitchable.Value != rollback.Unchecked || v.Overall != rollback.Safe || !slices.Equal(v.Unchecked, []string{"TrafficSwitchable"}) {
		t.Errorf("got %+v", v)
	}
	v = rollback.Evaluate(good(func(f *rollback.Facts) {
		f.Traffic.SelectorUnchanged = rollback.No
		f.Unchecked = []string{rollback.TrafficSwitchable}
	}))
	if v.Predicates.TrafficSwitchable.Value != rollback.No || v.Overall != rollback.Unsafe {
		t.Errorf("got %+v", v)
	}
}

// TestModes: what is off counts nowhere, what is only reported is told as it is and closes no gate.
func TestModes(t *testing.T) {
	t.Parallel()
	modes := func(m map[string]rollback.Mode, more func(*rollback.Facts)) rollback.Verdict {
		return rollback.Evaluate(good(func(f *rollback.Facts) { f.Modes = m; more(f) }))
	}
	selector := func(f *rollback.Facts) { f.Traffic.SelectorUnchanged = rollback.No }
	both := func(f *rollback.Facts) { selector(f); f.Artifact.Chart = rollback.Unread }
	for name, c := range map[string]struct {
		v          rollback.Verdict
		overall    rollback.Overall
		traffic    rollback.State
		blocking   []string
		acceptable []string
	}{
		"enforced": {modes(nil, both), rollback.Unsafe, rollback.No, []string{"deployment-selector-changed"}, nil},
		"said":     {modes(map[string]rollback.Mode{rollback.TrafficSwitchable: rollback.ModeEnforce}, selector), rollback.Unsafe, rollback.No, []string{"deployment-selector-changed"}, nil},
		"reported": {modes(map[string]rollback.Mode{rollback.TrafficSwitchable: rollback.ModeReport}, both), rollback.Unsafe, rollback.No,
			[]string{"chart-unread"}, []string{"chart-unread"}},
		"off": {modes(map[string]rollback.Mode{rollback.TrafficSwitchable: rollback.ModeOff}, selector), rollback.Safe, rollback.Off, nil, nil},
		"off and unchecked": {modes(map[string]rollback.Mode{rollback.TrafficSwitchable: rollback.ModeOff}, func(f *rollback.Facts) { f.Unchecked = []string{rollback.TrafficSwitchable} }),
			rollback.Safe, rollback.Off, nil, nil},
		"unknown and reported": {modes(map[string]rollback.Mode{rollback.TrafficSwitchable: rollback.ModeReport}, func(f *rollback.Facts) { f.Traffic.Replicas = nil }),
			rollback.UnknownOverall, rollback.Unknown, nil, nil},
	} {
		p := c.v.Predicates.TrafficSwitchable
		if c.v.Overall != c.overall || p.Value != c.traffic || !slices.Equal(c.v.Blocking, c.blocking) || !slices.Equal(c.v.Acceptable(), c.acceptable) {
			t.Errorf("%s: %+v", name, c.v)
		}
		if (c.v.Gate == rollback.Open) != (len(c.blocking) == 0) || len(c.v.Unchecked) > 0 {
			t.Errorf("%s: gate %s, unchecked %v", name, c.v.Gate, c.v.Unchecked)
		}
	}
}

func TestParseRefusesSlips(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"unknown member":    {`{"artefact": {}}`, []string{"artefact"}},
		"something follows": {`{} {}`, []string{"follows"}},
		"not JSON":          {`artifact:`, []string{"form expected"}},
		"wrong type":        {`{"traffic": {"replicas": "3"}}`, []string{"replicas"}},
		"states of other facts": {`{"artifact": {"chart": "yes", "missing_layers": -1}, "data": {"migrations": [{"verdict": "fine"}]}, "unchecked": ["Traffic"]}`,
			[]string{"artifact.chart", "artifact.missing_layers", "data.migrations[0].id", "data.migrations[0].verdict", `"Traffic"`}},
		"modes":              {`{"modes": {"traffic": "off", "DataCompatible": "on"}}`, []string{`modes: "traffic"`, `modes.DataCompatible: "on"`}},
		"a key without name": {`{"config": {"refs": [{"kind": "Secret", "name": "db", "state": "key-absent"}]}}`, []string{"config.refs[0].key"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := rollback.Parse([]byte(c.text))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not name %s", err, want)
				}
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"artifact":{"image_manifest":"present","missing_layers":0,"chart":"not-used"},"acceptances":[{"unknown":"pdb-unread"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		facts, err := rollback.Parse(data)
		if err != nil {
			return
		}
		v := rollback.Evaluate(facts)
		if (v.Gate == rollback.Open) != (len(v.Blocking) == 0) || (v.Overall == rollback.Safe) != (len(reasons(v)) == 0) {
			t.Fatalf("the verdict contradicts itself: %+v", v)
		}
	})
}

// TestWhyACheckIsUncheckedIsSaid: each in its own words, and none as unknown.
func TestWhyACheckIsUncheckedIsSaid(t *testing.T) {
	t.Parallel()
	said := map[string]bool{}
	for _, check := range (rollback.Predicates{}).All() {
		text := rollback.ExplainUnchecked(check.Name)
		if !strings.Contains(text, "is unchecked: ") || strings.Contains(text, "unknown") || said[text] {
			t.Errorf("%s: %q", check.Name, text)
		}
		said[text] = true
	}
}
