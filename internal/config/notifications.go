package config

import (
	"fmt"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Notifications say what people are told, where, and of what they are reminded.
type Notifications struct {
	Destinations []Destination `json:"destinations"`
	Reminders    Reminders     `json:"reminders"`
}

// Destination is where notifications are posted to.
type Destination struct {
	Name       string   `json:"name"`
	URL        string   `json:"url"`
	URLFile    string   `json:"url_file"`    // instead: a file that holds it, since the address of a chat tool's webhook is a secret
	SecretFile string   `json:"secret_file"` // holds what deliveries are signed with; empty: they are not signed
	Kinds      []string `json:"kinds"`       // empty: all
}

// Reminders say after how long people are reminded of what waits for them, and how often then. Left out: the usual.
type Reminders struct {
	Override  metav1.Duration `json:"override"`  // that was used or has expired, and nobody has reviewed
	Violation metav1.Duration `json:"violation"` // that nobody has reviewed
	Drift     metav1.Duration `json:"drift"`     // that is not mended
	Every     metav1.Duration `json:"every"`
}

// Address reads the URL.
func (d Destination) Address() (string, error) {
	if d.URLFile == "" {
		return d.URL, nil
	}
	return lineOf(d.URLFile)
}

// Secret reads what deliveries are signed with.
func (d Destination) Secret() (string, error) { return lineOf(d.SecretFile) }

func (n Notifications) complete() error {
	seen := map[string]bool{}
	for i, d := range n.Destinations {
		switch {
		case d.Name == "" || seen[d.Name]:
			return fmt.Errorf("notifications.destinations[%d].name %q: give each destination its own name", i, d.Name)
		case (d.URL == "") == (d.URLFile == ""):
			return fmt.Errorf("notifications.destinations[%d]: give either url or url_file", i)
		case d.URL != "" && !isWebAddress(d.URL):
			return fmt.Errorf("notifications.destinations[%d].url: give an http or https address without credentials; one that is a secret goes into url_file", i)
		}
		seen[d.Name] = true
	}
	for name, d := range map[string]metav1.Duration{"override": n.Reminders.Override, "violation": n.Reminders.Violation, "drift": n.Reminders.Drift, "every": n.Reminders.Every} {
		if d.Duration < 0 {
			return fmt.Errorf("notifications.reminders.%s: give a time such as 4h", name)
		}
	}
	return nil
}

func isWebAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (strings.EqualFold(u.Scheme, "http") || strings.EqualFold(u.Scheme, "https")) && u.Host != "" && u.User == nil
}
