package audit_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/audit"
)

var start = time.Date(2026, 3, 1, 2, 30, 0, 123456000, time.UTC)

func event(id int64, tx uint64) audit.Event {
	return audit.Event{ID: id, Tx: tx, At: start.Add(time.Duration(id) * time.Second), Actor: "ada", ActorKind: "person",
		Action: "promotion.approved", Object: "promotion/12", Application: "shop", Environment: "prod", Message: "approved",
		After: json.RawMessage(`{"by": ["ada", 1.50]}`)}
}

// chain seals events in batches of three.
func chain(events []audit.Event) []audit.Entry {
	head, entries := audit.Genesis(), make([]audit.Entry, len(events))
	for i := range events {
		last := min(i/3*3+2, len(events)-1)
		seal := head.Next(events[i], audit.Batch{Horizon: events[last].Tx + 1, At: start.Add(time.Duration(last) * time.Minute)})
		entries[i] = audit.Entry{Seal: seal, Event: &events[i]}
		head = seal.Head()
	}
	return entries
}

func verify(entries []audit.Entry) (audit.Head, []audit.Finding) {
	var findings []audit.Finding
	v := audit.NewVerifier(nil, func(f audit.Finding) { findings = append(findings, f) })
	for _, e := range entries {
		v.Add(e)
	}
	return v.End(), findings
}

// TestHashesStayWhatTheyAre: a hash in somebody's database can never be computed anew.
func TestHashesStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	number := int64(7)
	full := event(2, 900)
	full.ReleaseID, full.PromotionID, full.Before, full.RequestID, full.SourceAddress = &number, &number, json.RawMessage("null"), "r1", "192.0.2.1"
	entries := chain([]audit.Event{event(1, 899), full})
	for i, want := range []string{
		"bc63a06d86688860cbb2461a2924c7f3130e7b2ae12ddac8eb7a8f7edc795e6f@1",
		"fd4d2d8b3dd8b85da75cfd889a287d000f2ec8c812c0a767c6c87d906ea3ecf3@2",
	} {
		if got := entries[i].Head().String(); got != want {
			t.Errorf("head %s, want %s", got, want)
		}
	}
}

func TestHeadsAreReadAsWritten(t *testing.T) {
	t.Parallel()
	head := chain([]audit.Event{event(1, 5)})[0].Head()
	if got, err := audit.ParseHead(head.String()); err != nil || got != head {
		t.Errorf("%v read as %v, error %v", head, got, err)
	}
	hash := head.Hash.String()
	for _, text := range []string{"", "@", "1", hash, hash + "@", hash + "@x", hash + "@-1", hash + "@1@1", hash[1:] + "@1", hash + "00@1", "x" + hash[1:] + "@1"} {
		if got, err := audit.ParseHead(text); err == nil {
			t.Errorf("%q read as %v", text, got)
		}
	}
}

// TestNoValuePassesForAnother changes how the same characters are spread over the columns.
func TestNoValuePassesForAnother(t *testing.T) {
	t.Parallel()
	zero := int64(0)
	seen := map[audit.Hash]string{}
	for name, change := range map[string]func(*audit.Event){
		"as it is":           func(*audit.Event) {},
		"moved across":       func(e *audit.Event) { e.Actor, e.ActorKind = "adap", "erson" },
		"swapped":            func(e *audit.Event) { e.Application, e.Environment = e.Environment, e.Application },
		"a field in a field": func(e *audit.Event) { e.Actor = "ada\nactor_kind 6 person"; e.ActorKind = "" },
		"zero for NULL":      func(e *audit.Event) { e.ReleaseID = &zero },
		"another NULL":       func(e *audit.Event) { e.PromotionID = &zero },
		"JSON null for NULL": func(e *audit.Event) { e.Before = json.RawMessage("null") },
		"JSON of a column":   func(e *audit.Event) { e.Before, e.After = e.After, nil },
		"digits":             func(e *audit.Event) { e.After = json.RawMessage(`{"by": ["ada", 1.5]}`) },
		"space in a string":  func(e *audit.Event) { e.After = json.RawMessage(`{"by": ["ada ", 1.50]}`) },
	} {
		e := event(1, 5)
		change(&e)
		hash := audit.Genesis().Next(e, audit.Batch{Horizon: 6, At: start}).Hash
		if other, twice := seen[hash]; twice {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		seen[hash] = name
	}
}

func TestTheZoneAndTheSpaceDoNotMatter(t *testing.T) {
	t.Parallel()
	a, b := event(1, 5), event(1, 5)
	b.At = b.At.In(time.FixedZone("", 5*3600))
	b.After = json.RawMessage(`{"by":["ada",1.50]}`)
	batch := audit.Batch{Horizon: 6, At: start}
	if audit.Genesis().Next(a, batch) != audit.Genesis().Next(b, batch) {
		t.Error("the hash depends on how a time or a document is shown")
	}
}

// TestEveryChangeIsFound does one random thing to a random chain, by seed.
func TestEveryChangeIsFound(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 9))
		entries := chain(randomEvents(random, 2+random.IntN(12)))
		if _, findings := verify(entries); len(findings) > 0 {
			t.Fatalf("seed %d: findings in an untouched chain: %v", seed, findings)
		}
		what := tamper(random, &entries)
		_, findings := verify(entries)
		if len(findings) == 0 {
			t.Errorf("seed %d: %s is not found", seed, what)
		}
		for _, f := range findings {
			if strings.TrimSpace(f.Message) == "" || f.Position == 0 {
				t.Errorf("seed %d: %s: finding %+v names nothing", seed, what, f)
			}
		}
	}
}

// randomEvents are in the order of sealing, with ids as concurrent transactions take them.
func randomEvents(random *rand.Rand, n int) []audit.Event {
	ids := random.Perm(3)
	events := make([]audit.Event, n)
	for i := range events {
		events[i] = event(int64(i/3*3+ids[i%3]+1), uint64(100+2*i))
	}
	return events
}

// tamper changes anything but the end of the chain, which the chain alone cannot show.
func tamper(random *rand.Rand, entries *[]audit.Entry) string {
	all := *entries
	i := random.IntN(len(all) - 1)
	j := i + 1 + random.IntN(len(all)-i-1)
	changed := *all[i].Event
	switch random.IntN(8) {
	case 0:
		changed.Message += " "
		all[i].Event = &changed
		return "another message"
	case 1:
		all[i].Event = nil
		return "a removed event"
	case 2:
		*entries = slices.Delete(all, i, i+1)
		return "a removed entry"
	case 3:
		*entries = slices.Delete(all, i, i+1)
		for k := i; k < len(*entries); k++ {
			(*entries)[k].Position--
		}
		return "a removed entry, the others moved up"
	case 4:
		all[i].Event, all[j].Event = all[j].Event, all[i].Event
		all[i].EventID, all[j].EventID = all[j].EventID, all[i].EventID
		return "swapped events"
	case 5:
		all[i], all[j] = all[j], all[i]
		all[i].Position, all[j].Position = all[j].Position, all[i].Position
		return "swapped entries"
	case 6:
		all[i].Hash[random.IntN(32)] ^= 1
		return "another hash"
	}
	all[i].At = all[i].At.Add(time.Microsecond)
	return "another time of sealing"
}

func BenchmarkVerify(b *testing.B) {
	events := make([]audit.Event, 1000)
	for i := range events {
		events[i] = event(int64(i+1), uint64(i+1))
	}
	entries := chain(events)
	b.ReportAllocs()
	for b.Loop() {
		if _, findings := verify(entries); len(findings) > 0 {
			b.Fatal(findings)
		}
	}
}
