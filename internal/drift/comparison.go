package drift

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"strings"
)

// comparison is one object being compared.
type comparison struct {
	Pair
	owners owners
	found  map[string]Difference // by path
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// add keeps a difference, unless one is known at, around or below its path.
func (c *comparison) add(d Difference) {
	key := d.Path.key()
	for other := range c.found {
		if key == other || strings.HasPrefix(key, other+"\x00") || strings.HasPrefix(other, key+"\x00") {
			return
		}
	}
	if !bookkeeping(d.Path) {
		c.found[key] = d
	}
}

// bookkeeping tells whether a field is the API server's, a controller's or the engine's own and no configuration.
func bookkeeping(p Path) bool {
	fields := p.Fields()
	if len(fields) == 0 || fields[0] == "status" || fields[0] == "apiVersion" || fields[0] == "kind" {
		return true
	}
	if fields[0] != "metadata" || len(fields) < 2 {
		return false
	}
	switch fields[1] {
	case "managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink", "namespace", "name":
		return true
	case "annotations":
		return len(fields) > 2 && (fields[2] == lastApplied || strings.HasPrefix(fields[2], "argocd.argoproj.io/tracking") ||
			strings.HasPrefix(fields[2], "deployment.kubernetes.io/"))
	}
	return false
}

// valuesThatDiffer finds what Git says and is not so.
func (c *comparison) valuesThatDiffer() {
	walk{keys: c.owners.listKeys, visit: func(p Path, want, have any) {
		d := c.difference(p, want, have)
		// What applying again would give as well is no drift; without a dry run, what the engine itself wrote is taken for that.
		applied, _ := at(c.Applied, p)
		switch {
		case c.Applied != nil && same(p, applied, have):
			d.Class, d.Excuse = Webhook, "applying Git's value gives this again: an admission webhook or the API server decides it"
		case c.Applied == nil && have != nil && d.Owner.isEngine():
			d.Excuse = "Argo CD's own write ended up so: an admission webhook or the API server changed it"
		}
		c.add(d)
	}}.compare(nil, c.Desired, c.Live)
}

func (c *comparison) difference(p Path, want, have any) Difference {
	d := Difference{Path: p, Want: want, Have: have, Owner: c.owners.of(p)}
	if have == nil && d.Owner.isEngine() {
		d.Owner = Owner{} // who removed a field is not who had written it
	}
	d.Class = d.Owner.Class()
	if d.Class == Webhook && (want == nil || c.Applied != nil) {
		d.Class = Unknown // the engine has it as its own, and would write something else today
	}
	return d
}

// whatApplyingWouldChange finds the rest of what a dry run says.
func (c *comparison) whatApplyingWouldChange() {
	if c.Applied == nil {
		return
	}
	walk{exact: true, keys: c.owners.listKeys, visit: func(p Path, want, have any) {
		c.add(c.difference(p, want, have))
	}}.compare(nil, c.Applied, c.Live)
}

// removedFromGit finds what the last client-side apply wrote, is live, and Git does not say: the next apply removes it.
func (c *comparison) removedFromGit() {
	var before map[string]any
	if json.Unmarshal([]byte(annotation(c.Live, lastApplied)), &before) != nil {
		return
	}
	walk{exact: true, keys: c.owners.listKeys, visit: func(p Path, want, applied any) {
		have, live := at(c.Live, p)
		if want == nil && live && !isEmpty(applied) {
			c.add(c.difference(p, nil, have))
		}
	}}.compare(nil, c.Desired, asStored(before))
}

// addedByOthers finds fields that a person or another tool has as their own and Git does not mention. Controllers add fields
// all the time, and what was written when the object was made may be a default.
func (c *comparison) addedByOthers() {
	metadata, _ := c.Live["metadata"].(map[string]any)
	made, _ := metadata["creationTimestamp"].(string)
	for _, entry := range c.owners {
		class := entry.Class()
		if class != Human && class != Delivery && class != Unknown || entry.Sub == "status" ||
			class == Delivery && entry.Operation == "Update" && entry.At.Format("2006-01-02T15:04:05Z") == made {
			continue
		}
		entry.leaves(func(p Path) bool {
			have, live := at(c.Live, p)
			if _, wanted := at(c.Desired, p); wanted || !live {
				return false
			}
			d := Difference{Path: p, Have: have, Owner: entry.Owner, Class: class}
			if p.last() == "kubectl.kubernetes.io/restartedAt" {
				d.Excuse = "a restart that somebody asked for changes nothing else"
			}
			c.add(d)
			return true
		})
	}
}

// asStored is an object the way an API server keeps it: a Secret's stringData becomes data.
func asStored(o map[string]any) map[string]any {
	texts, some := o["stringData"].(map[string]any)
	if o["kind"] != "Secret" || !some {
		return o
	}
	stored := maps.Clone(o)
	delete(stored, "stringData")
	data, _ := o["data"].(map[string]any)
	data = maps.Clone(data)
	if data == nil {
		data = map[string]any{}
	}
	for key, text := range texts {
		if s, ok := text.(string); ok {
			data[key] = base64.StdEncoding.EncodeToString([]byte(s))
		}
	}
	stored["data"] = data
	return stored
}
