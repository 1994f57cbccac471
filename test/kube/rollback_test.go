//go:build peers

package kube_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/prhost/builtin"
	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

const (
	prodOverlay = "apps/web/overlays/prod/kustomization.yaml"
	parcelKey   = "patches:\n  - patch: |-\n      {apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {PARCEL_API: 'https://parcels.example.test'}}\n\nimages:"
)

// onlyProd is a shop without dev, where what is healthy for a second is verified, and whose code takes PARCEL_API from its ConfigMap.
func onlyProd(files map[string][]byte) {
	maps.DeleteFunc(files, func(name string, _ []byte) bool { return strings.HasPrefix(name, "apps/web/overlays/dev/") })
	files["sluice.yaml"] = []byte("version: 1\nenvironments: {prod: {soak: 1s}}\n")
	files[prodOverlay] = []byte(strings.Replace(string(files[prodOverlay]), "images:", parcelKey, 1))
}

// TestTheWaysBackOfProd asks of a cluster and a repository that change whether prod can go back, and goes.
func TestTheWaysBackOfProd(t *testing.T) {
	t.Parallel()
	s := newShopOf(&world{T: t}, onlyProd)
	s.argo("prod", "{syncOptions: [ServerSideApply=true]}")
	s.restored("web-prod")
	s.aKeyIsBroughtBack()
	s.aColumnIsGone()
}

// aKeyIsBroughtBack: 1.3.1 does without a key of the ConfigMap, which is then removed. 1.3.0 comes back with it.
func (s *shop) aKeyIsBroughtBack() {
	s.Helper()
	first, _, firstImage := s.posts("1.3.0", nil)
	s.toProd(first, firstImage)
	second, _, secondImage := s.posts("1.3.1", nil)
	left := s.toProd(second, secondImage)
	c := s.waysBack().Candidates[0]
	if c.Images.Verdict.Overall != rollback.Safe || c.Best().Way != promotion.ImagesOnly {
		s.Errorf("while the key is there, the images alone are %+v; unread %q", c.Images.Verdict, c.Images.Unread)
	}

	s.removesTheKey()
	check := s.waysBack()
	c = check.Candidates[0]
	const gone = "config-key-absent:ConfigMap/web/PARCEL_API"
	config := c.Images.Verdict.Predicates.ConfigCompatible
	if config.Value != rollback.No || !slices.Equal(config.Reasons, []string{gone}) || c.Images.Verdict.Overall != rollback.Unsafe {
		s.Errorf("without the key, the images alone are %+v", c.Images.Verdict)
	}
	if nearest := check.Nearest(); nearest == nil || nearest.Release.ID != first.ID || nearest.Best().Way != promotion.ImagesAndConfig {
		s.Errorf("images and configuration of 1.3.0 are to be offered, and it is %+v; with the configuration it is %+v, unread %q", nearest, c.WithConfig.Verdict, c.WithConfig.Unread)
	}

	p := s.startsBack("1.3.0", promotion.ImagesAndConfig)
	p = s.goes(p.ID, firstImage)
	if p.Kind != promotion.KindRollback || !strings.Contains(s.pullRequest(p).Title, "1.3.0 as of ") {
		s.Errorf("it went as a %s, %q", p.Kind, s.pullRequest(p).Title)
	}
	s.is(left.ID, promotion.StateRolledBack)
	if values := s.configMapInProd(); values["PARCEL_API"] != "https://parcels.example.test" {
		s.Errorf("the code of 1.3.0 runs with %v", values)
	}
	s.resumes()
}

// aColumnIsGone: a table is changed in steps, so that each release works with what the one before it has left, until a column is dropped.
func (s *shop) aColumnIsGone() {
	s.Helper()
	history := []struct {
		version, migration string
		noReturn           string // to what, once this release runs
	}{
		{"1.4.0", "CREATE TABLE parcel (id bigint PRIMARY KEY, note text);\n", ""},
		{"1.4.1", "ALTER TABLE parcel ADD COLUMN remark text;\n", ""},
		{"1.4.2", "-- nobody reads it any more\n\nALTER TABLE parcel DROP COLUMN note;\n", "1.4.1"},
		{"1.4.3", "ALTER TABLE parcel ADD COLUMN city text;\n", "1.4.1"},
	}
	posted := &promotion.Migrations{Tool: "plain"}
	for i, step := range history {
		posted.Files = append(posted.Files, promotion.MigrationFile{Name: fmt.Sprintf("%04d_parcel.sql", i+1), SQL: step.migration})
		release, _, reference := s.posts(step.version, posted)
		s.toProd(release, reference)
		check := s.waysBack()
		noReturn := ""
		if barred := check.PointOfNoReturn(); barred != nil {
			noReturn = barred.Release.Version
		}
		if noReturn != step.noReturn {
			s.Errorf("with %s in prod the point of no return is %q, want %q", step.version, noReturn, step.noReturn)
		}
		if step.version == "1.4.2" {
			s.isUnsafe("1.4.1", "0003_parcel.sql:3 drops a column")
		}
	}
	for _, c := range s.waysBack().Candidates {
		barred := slices.Contains([]string{"1.4.1", "1.4.0"}, c.Release.Version)
		for _, v := range []promotion.RollbackVerdict{c.Images, c.WithConfig} {
			if data := v.Verdict.Predicates.DataCompatible; (data.Value == rollback.No) != barred {
				s.Errorf("from 1.4.3 to %s by %s the database says %+v", c.Release.Version, v.Way, data)
			}
			if slices.ContainsFunc(v.Notes, func(n string) bool { return strings.Contains(n, "0003_parcel.sql:3 drops a column") }) != barred {
				s.Errorf("from 1.4.3 to %s by %s it is said that %q", c.Release.Version, v.Way, v.Notes)
			}
		}
	}
}

// isUnsafe asks to go back to a release, which the gate of the pull request is against, in these words.
func (s *shop) isUnsafe(to, words string) {
	s.Helper()
	p := s.startsBack(to, promotion.ImagesOnly)
	s.is(p.ID, promotion.StateOpen)
	s.eventually("rollback-safe names the migration", func() (bool, string) {
		gates, err := s.service.Store.Gates(s.Context(), p.ID)
		s.must(err)
		at := slices.IndexFunc(gates, func(g promotion.GateResult) bool {
			return g.Gate == promotion.GateRollbackSafe && g.Phase == promotion.PhaseMerge
		})
		return at >= 0 && gates[at].Verdict == promotion.Block && strings.Contains(gates[at].Reason, to) && strings.Contains(gates[at].Reason, words), fmt.Sprintf("%+v", gates)
	})
	s.eventually("the pull request says so", func() (bool, string) {
		body := s.pullRequest(p).Body
		return strings.Contains(body, words), body
	})
	_, err := s.service.Cancel(s.Context(), rita, p.ID, "it would not work")
	s.must(err)
	s.is(p.ID, promotion.StateCancelled)
	s.resumes()
}

func (s *shop) startsBack(to string, way promotion.Way) promotion.Promotion {
	s.Helper()
	p, err := s.service.StartRollback(s.Context(), rita, promotion.GoBackRequest{Application: "web", Environment: "prod", Way: way, To: to, Reason: "it loses parcels"})
	s.must(err)
	return p
}

// resumes lets prod go on after a rollback.
func (s *shop) resumes() {
	s.Helper()
	s.must(s.service.Resume(s.Context(), rita, promotion.HoldRequest{Application: "web", Environment: "prod", Reason: "the next one is better"}))
}

func (s *shop) waysBack() promotion.RollbackCheck {
	s.Helper()
	check, err := s.service.CheckRollback(s.Context(), promotion.RollbackRequest{Application: "web", Environment: "prod"})
	s.must(err)
	return check
}

// removesTheKey has a person take PARCEL_API out of main, past Sluice, and sync prod.
func (s *shop) removesTheKey() {
	s.Helper()
	c := prhosttest.NewClone(s, strings.Replace(s.url, "http://", "http://rita:secret@", 1))
	c.Push("main", prodOverlay, strings.Replace(c.Git("show", "origin/main:"+prodOverlay)+"\n", parcelKey, "images:", 1))
	s.restored("web-prod")
	if values := s.configMapInProd(); values["PARCEL_API"] != nil || values["LOG_LEVEL"] == nil {
		s.Fatalf("only PARCEL_API was to go, and there is %v", values)
	}
	s.eventually("Sluice knows main", func() (bool, string) {
		c := s.waysBack().Candidates[0]
		return c.Images.Verdict.Predicates.ConfigCompatible.Value == rollback.No, fmt.Sprintf("%+v", c.Images)
	})
}

func (s *shop) configMapInProd() map[string]any {
	s.Helper()
	o, err := s.kube.Client.Resource(configMaps).Namespace("shop-prod").Get(s.Context(), "web", metav1.GetOptions{})
	s.must(err)
	values, _, err := unstructured.NestedMap(o.Object, "data")
	s.must(err)
	return values
}

func (s *shop) pullRequest(p promotion.Promotion) builtin.Details {
	s.Helper()
	p, err := s.service.Store.Promotion(s.Context(), p.ID)
	s.must(err)
	d, err := s.host.PullRequest(s.Context(), configRepository, p.Number)
	s.must(err)
	return d
}
