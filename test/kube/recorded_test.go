//go:build peers

package kube_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// recorded is what the database says of a deployment.
type recorded struct {
	sync, health, operation, message string
	images                           []string
}

func (r recorded) String() string {
	return fmt.Sprintf("sync %s, health %s, operation %s, images %v, message %q", r.sync, r.health, r.operation, r.images, r.message)
}

// becomes waits until a deployment is recorded with this sync and health, and a message that says all the parts; none means that
// there is nothing to be said.
func (w *world) becomes(name, sync, health string, parts ...string) {
	w.Helper()
	w.eventually(fmt.Sprintf("%s is %s and %s and says %q", name, sync, health, parts), func() (bool, string) {
		r := w.recorded(name)
		says := !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(r.message, p) })
		return r.sync == sync && r.health == health && says && (len(parts) > 0 || r.message == ""), r.String()
	})
}

func (w *world) recorded(name string) recorded {
	w.Helper()
	var r recorded
	rows, err := w.pool.Query(w.Context(), "SELECT sync, health, operation, message, image_ids FROM deployments WHERE cluster = $1 AND name = $2", clusterName, name)
	w.must(err)
	defer rows.Close()
	for rows.Next() {
		w.must(rows.Scan(&r.sync, &r.health, &r.operation, &r.message, &r.images))
	}
	w.must(rows.Err())
	return r
}

// span is a stretch of a deployment's recorded history.
type span struct {
	sync, health, message string
	from, to              time.Time
}

func (w *world) history(name string) (all []span) {
	w.Helper()
	rows, err := w.pool.Query(context.WithoutCancel(w.Context()), `SELECT o.sync, o.health, o.message, o.observed_at, coalesce(o.replaced_at, now()) FROM deployment_observations o JOIN deployments d ON d.id = o.deployment_id
		WHERE d.name = $1 ORDER BY o.id`, name)
	w.must(err)
	defer rows.Close()
	for rows.Next() {
		var s span
		w.must(rows.Scan(&s.sync, &s.health, &s.message, &s.from, &s.to))
		all = append(all, s)
	}
	w.must(rows.Err())
	return all
}
