package rollback

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Parse reads facts from JSON. Members and states that are not in the
// specification are errors, all of them reported: a slip must not pass for a
// fact that could not be read.
func Parse(data []byte) (Facts, error) {
	var facts Facts
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&facts); err != nil {
		return Facts{}, fmt.Errorf("the facts are not in the form expected: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Facts{}, errors.New("the facts are not in the form expected: something follows the JSON object")
	}
	var c checker
	c.facts(facts)
	if len(c.faults) > 0 {
		return Facts{}, errors.Join(c.faults...)
	}
	return facts, nil
}

// checker collects every value that no fact may have.
type checker struct {
	faults []error
}

func (c *checker) facts(facts Facts) {
	c.artifact(facts.Artifact)
	c.config(facts.Config)
	c.data(facts.Data)
	c.traffic(facts.Traffic)
	c.dependency(facts.Dependency)
	predicates := []string{ArtifactAvailable, ConfigCompatible, DataCompatible, TrafficSwitchable, DependencyRecoverable}
	for _, name := range facts.Unchecked {
		c.oneOf("unchecked", name, predicates...)
	}
	for _, name := range slices.Sorted(maps.Keys(facts.Modes)) {
		c.oneOf("modes", name, predicates...)
		c.oneOf("modes."+name, string(facts.Modes[name]), string(ModeOff), string(ModeReport), string(ModeEnforce))
	}
}

func (c *checker) oneOf(place, got string, allowed ...string) {
	if !slices.Contains(allowed, got) {
		c.faults = append(c.faults, fmt.Errorf("%s: %q must be one of %s", place, got, strings.Join(allowed, ", ")))
	}
}

func (c *checker) artifact(a Artifact) {
	c.state("artifact.image_manifest", a.ImageManifest, Present, Absent)
	c.count("artifact.missing_layers", a.MissingLayers)
	c.state("artifact.chart", a.Chart, Present, Absent, NotUsed)
}

func (c *checker) config(config Config) {
	c.state("config.old_manifests", config.OldManifests, Recorded)
	for i, ref := range config.Refs {
		place := fmt.Sprintf("config.refs[%d]", i)
		c.named(place+".kind", ref.Kind)
		c.named(place+".name", ref.Name)
		if ref.State == KeyAbsent {
			c.named(place+".key", ref.Key)
		}
		c.state(place+".state", ref.State, Present, ObjectAbsent, KeyAbsent)
	}
	for i, api := range config.APIs {
		place := fmt.Sprintf("config.apis[%d]", i)
		c.named(place+".api", api.API)
		c.state(place+".served", api.Served, Yes, No)
	}
}

func (c *checker) data(d Data) {
	c.state("data.migration_list", d.MigrationList, Complete)
	c.state("data.schema_state", d.SchemaState, Clean, HalfApplied)
	for i, m := range d.Migrations {
		place := fmt.Sprintf("data.migrations[%d]", i)
		c.named(place+".id", m.ID)
		c.state(place+".verdict", m.Verdict, Compatible, Breaking, Unknown)
		c.state(place+".reversible", m.Reversible, Yes, No, Unknown)
		c.state(place+".declared_reversible", m.DeclaredReversible, Yes, No)
	}
	c.state("data.new_data", d.NewData, None, OldCanRead, OldCannotRead)
}

func (c *checker) traffic(t Traffic) {
	c.state("traffic.strategy", t.Strategy, RollingUpdate, Recreate, BlueGreen, Canary)
	c.state("traffic.old_stack", t.OldStack, Running, ScaledDown, Deleted, NotUsed)
	c.state("traffic.selector_unchanged", t.SelectorUnchanged, Yes, No)
	c.state("traffic.service_selects_old", t.ServiceSelectsOld, Yes, No)
	c.state("traffic.readiness_probe", t.ReadinessProbe, Yes, No)
	c.count("traffic.replicas", t.Replicas)
	c.count("traffic.max_unavailable", t.MaxUnavailable)
	c.state("traffic.surge_room", t.SurgeRoom, Yes, No)
	c.count("traffic.pdb_disruptions_allowed", t.PDBDisruptionsAllowed)
	for i, r := range t.Rollouts {
		c.named(fmt.Sprintf("traffic.rollouts[%d].name", i), r.Name)
	}
}

func (c *checker) dependency(d Dependency) {
	for i, s := range d.ExternalSecrets {
		place := fmt.Sprintf("dependency.external_secrets[%d]", i)
		c.named(place+".name", s.Name)
		c.state(place+".store_ready", s.StoreReady, Yes, No)
		c.state(place+".remote_key", s.RemoteKey, Present, Absent)
	}
	for i, s := range d.SealedSecrets {
		place := fmt.Sprintf("dependency.sealed_secrets[%d]", i)
		c.named(place+".name", s.Name)
		c.state(place+".decryptable", s.Decryptable, Yes, No)
	}
	for i, t := range d.Targets {
		place := fmt.Sprintf("dependency.targets[%d]", i)
		c.named(place+".target", t.Target)
		c.state(place+".healthy", t.Healthy, Yes, No)
	}
	for i, m := range d.Metrics {
		place := fmt.Sprintf("dependency.metrics[%d]", i)
		c.named(place+".name", m.Name)
		c.state(place+".kept", m.Kept, Yes, No)
	}
	c.state("dependency.messages", d.Messages, Compatible, Incompatible, NotUsed, NotRequired, NotAsked)
	c.state("dependency.cache", d.Cache, Compatible, Incompatible, NotUsed, NotRequired, NotAsked)
	c.state("dependency.external_effects", d.ExternalEffects, None, Recoverable, Irreversible, NotRequired, NotAsked)
}

// state allows the given states and those that say nothing is known.
func (c *checker) state(place string, got State, allowed ...State) {
	if slices.Contains(allowed, got) || slices.Contains([]State{"", Unread, Missing}, got) {
		return
	}
	var names []string
	for _, s := range append(allowed, Unread) {
		names = append(names, string(s))
	}
	c.faults = append(c.faults, fmt.Errorf("%s: %q must be one of %s", place, got, strings.Join(names, ", ")))
}

func (c *checker) count(place string, got *int) {
	if got != nil && *got < 0 {
		c.faults = append(c.faults, fmt.Errorf("%s: %d must not be below zero", place, *got))
	}
}

func (c *checker) named(place, name string) {
	if name == "" {
		c.faults = append(c.faults, fmt.Errorf("%s must not be empty", place))
	}
}
