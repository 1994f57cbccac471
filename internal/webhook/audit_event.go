package webhook

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// eventList is what an API server sends. Bodies of requests and answers are not among the fields, so they are not even read.
type eventList struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Items      []auditEvent `json:"items"`
}

type auditEvent struct {
	AuditID    string `json:"auditID"`
	Stage      string `json:"stage"`
	RequestURI string `json:"requestURI"`
	Verb       string `json:"verb"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ImpersonatedUser struct {
		Username string `json:"username"`
	} `json:"impersonatedUser"`
	SourceIPs []string `json:"sourceIPs"`
	UserAgent string   `json:"userAgent"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		APIGroup    string `json:"apiGroup"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	RequestReceivedTimestamp time.Time `json:"requestReceivedTimestamp"`
}

// writes are those that have changed an object.
func (l eventList) writes() []promotion.AuditedWrite {
	var all []promotion.AuditedWrite
	for _, e := range l.Items {
		if !e.wrote() {
			continue
		}
		w := promotion.AuditedWrite{ID: short(e.AuditID), As: short(e.ImpersonatedUser.Username),
			Ref: promotion.LiveRef{Group: e.ObjectRef.APIGroup, Resource: e.ObjectRef.Resource, Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name}}
		w.Verb, w.User, w.Agent, w.At = e.Verb, short(e.User.Username), short(e.UserAgent), e.RequestReceivedTimestamp
		if n := len(e.SourceIPs); n > 0 {
			w.Source = short(e.SourceIPs[n-1]) // the caller may have made up those before the last
		}
		all = append(all, w)
	}
	return all
}

// wrote tells whether a request has changed what Git has a say in: it was carried out, was no dry run, and was not about a status.
func (e auditEvent) wrote() bool {
	return e.AuditID != "" && e.ObjectRef.Name != "" && e.Stage == "ResponseComplete" && !e.RequestReceivedTimestamp.IsZero() &&
		e.ResponseStatus.Code >= 200 && e.ResponseStatus.Code < 300 && !e.dryRun() &&
		slices.Contains([]string{"create", "update", "patch", "delete"}, e.Verb) && slices.Contains([]string{"", "scale"}, e.ObjectRef.Subresource)
}

func (e auditEvent) dryRun() bool {
	uri, err := url.Parse(e.RequestURI)
	return err == nil && uri.Query().Has("dryRun")
}

// longest bounds, in bytes, what is kept of one text.
const longest = 256

// short is a text as the database takes it.
func short(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text[:min(longest, len(text))], "\x00", ""), "")
}
