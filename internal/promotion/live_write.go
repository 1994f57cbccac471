package promotion

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// LiveWrite is that a person wrote to a live object, past Git, as the audit of the cluster's API server tells it. What was written is not
// kept.
type LiveWrite struct {
	Object string // as Drift names it: Kind.group namespace/name
	Verb   string // create, update, patch or delete
	User   string // as the cluster calls them
	Agent  string // the program, as it calls itself
	Source string // the address it came from
	At     time.Time
}

// AuditedWrite is one write that was audited, by whomever.
type AuditedWrite struct {
	LiveWrite
	ID string // of the audit's event: the same when it is sent again
	// Ref says which object it is in the API's own terms; Object is not known yet.
	Ref LiveRef
	// As is whom the user wrote as; empty: nobody else.
	As string
}

// LiveRef names an object as its address in the API does.
type LiveRef struct{ Group, Resource, Namespace, Name string }

// LiveObjects knows which objects deployments consist of in one cluster.
type LiveObjects interface {
	// Followed is the object as Drift names it; empty when it belongs to no deployment. The error means that this is not known yet.
	Followed(r LiveRef) (string, error)
}

// liveWritesKept is how long it is remembered who wrote to a live object.
const liveWritesKept = 90 * 24 * time.Hour

// LiveWritten records what people wrote to the objects of deployments. The same write again does nothing; who is no person, and what
// belongs to no deployment, is not kept.
func (s *Service) LiveWritten(ctx context.Context, cluster string, all []AuditedWrite) error {
	objects := s.LiveObjects[cluster]
	if objects == nil {
		return fmt.Errorf("cluster %s is not connected to this server", cluster)
	}
	var kept []AuditedWrite
	for _, w := range all {
		if w.User = personBehind(w.User, w.As); w.User == "" {
			continue
		}
		object, err := objects.Followed(w.Ref)
		if err != nil {
			return fmt.Errorf("tell what belongs to a deployment in cluster %s: %w", cluster, err)
		}
		if w.Object = object; object != "" {
			kept = append(kept, w)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return s.Store.Tx(ctx, func(tx Tx) error {
		if err := tx.ForgetLiveWrites(ctx, s.Now().Add(-liveWritesKept)); err != nil {
			return err
		}
		for _, w := range kept {
			if err := tx.InsertLiveWrite(ctx, cluster, w); err != nil {
				return fmt.Errorf("record a write to %s in cluster %s: %w", w.Object, cluster, err)
			}
		}
		return nil
	})
}

// personBehind is who wrote, given whom the API server knew them as and whom they wrote as; empty when it was no person. A program may
// write as the person who uses it.
func personBehind(user, as string) string {
	switch {
	case isAccount(user) && (as == "" || isAccount(as)):
		return ""
	case isAccount(user):
		return as
	case as == "":
		return user
	}
	return user + ", as " + as
}

// isAccount tells whether a name is of the cluster itself: service accounts, nodes and the control plane. system:admin is what some
// distributions call whoever holds the administrator's certificate.
func isAccount(user string) bool {
	return user == "" || strings.HasPrefix(user, "system:") && user != "system:admin"
}

// How far from a difference a write may lie to be behind it. managedFields date the last write of a program to an object, to the second.
const (
	writeBefore = 2 * time.Minute  // the date of a field's owner: a look and some more, since somebody else may have written with the same program
	writeAfter  = time.Second      // that date
	unseenFor   = 5 * time.Minute  // when it was first seen, where nothing dates it
	clocksApart = 30 * time.Second // of Sluice and an API server
)

// Behind are the writes that may have made the difference, newest first, one of each person. When they are several, nobody knows which of
// them it was.
func (d Drift) Behind(audited []LiveWrite) []LiveWrite {
	if d.Class == DriftAutoscaler || d.Class == DriftWebhook || d.Class == DriftController {
		return nil
	}
	from, to := d.OwnedAt.Add(-writeBefore), d.OwnedAt.Add(writeAfter)
	if d.OwnedAt.IsZero() {
		from, to = d.FirstSeen.Add(-unseenFor), d.FirstSeen.Add(clocksApart)
	}
	var behind []LiveWrite
	for _, w := range slices.SortedFunc(slices.Values(audited), func(a, b LiveWrite) int { return b.At.Compare(a.At) }) {
		if w.At.Before(from) || w.At.After(to) || (w.Verb == "delete") != (d.Class == DriftDeleted) {
			continue
		}
		if !slices.ContainsFunc(behind, func(o LiveWrite) bool { return o.User == w.User }) {
			behind = append(behind, w)
		}
	}
	return behind
}
