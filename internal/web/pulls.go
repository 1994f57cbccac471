package web

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strconv"

	"github.com/labstack/echo/v4"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/sluicehq/sluice/internal/promotion"
)

type pullsView struct {
	Repository string
	NewURL     string
	Rows       []pullRow
}

type pullRow struct {
	Number    int
	URL       string
	Title     string
	State     mark
	Branch    string
	Author    string
	At        moment
	Promotion link
	Verdict   string // of the last look at a person's own
}

type pullView struct {
	pullRow
	Repository, PullsURL string
	Body                 template.HTML
	Head, Merge          shortened
	By                   string
	MergeURL             string // of the promotion, for who may merge
	Through              link
	Changes              []siblingView
	Problem              *promotion.Error
	HostMergeURL         string // of one that no gate is about
	CloseURL             string
	Statuses             []statusView
	Comments             []commentView
	Diff                 []diffLine
	Cut                  bool
}

type statusView struct {
	Mark        mark
	Context     link
	Description string
	At          moment
}

type commentView struct {
	Author string
	Body   template.HTML
	At     moment
}

func pullsURL(repository string) string { return "/git/" + url.PathEscape(repository) + "/pulls" }

// generated is the branch of a promotion's pull request.
var generated = regexp.MustCompile(`^sluice/[^/]+/[^/]+/([0-9]+)$`)

func (w *Web) newPullRow(repository string, p PullRequestSummary) pullRow {
	row := pullRow{Number: p.Number, URL: fmt.Sprintf("%s/%d", pullsURL(repository), p.Number), Title: p.Title, State: pullMark(p.State),
		Branch: p.Branch, Author: p.Author, At: at(p.OpenedAt, w.now())}
	if m := generated.FindStringSubmatch(p.Branch); m != nil {
		if id, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			row.Promotion = promotionLink(id)
		}
	}
	return row
}

func (w *Web) showPulls(c echo.Context) error {
	repository := c.Param("repository")
	list, err := w.pullRequests.List(c.Request().Context(), repository)
	if err != nil {
		return found(err, "unknown-repository", "there is no repository %s here", repository)
	}
	seen, err := w.store.SeenPullRequests(c.Request().Context(), repository)
	if err != nil {
		return err
	}
	v := pullsView{Repository: repository, NewURL: pullsURL(repository) + "/new", Rows: each(list, func(p PullRequestSummary) pullRow {
		row := w.newPullRow(repository, p)
		if row.Promotion.URL == "" && p.State == "open" {
			row.Verdict = verdict(seen, p.Number)
		}
		return row
	})}
	return w.show(c, http.StatusOK, "pulls", page{Title: "Pull requests of " + repository, Body: v})
}

// verdict is what the last look found that a pull request changes.
func verdict(seen map[int]promotion.SeenPullRequest, number int) string {
	if s, ok := seen[number]; ok {
		return s.Verdict
	}
	return "not looked at yet"
}

func (w *Web) showPull(c echo.Context) error { return w.answerPull(c, http.StatusOK, nil) }

func (w *Web) answerPull(c echo.Context, status int, refused *promotion.Error) error {
	repository := c.Param("repository")
	number, err := pathID(c, "number")
	if err != nil {
		return err
	}
	p, err := w.pullRequests.Get(c.Request().Context(), repository, int(number))
	if err != nil {
		return found(err, "unknown-pull-request", "there is no pull request #%d of %s here", number, repository)
	}
	v := pullView{pullRow: w.newPullRow(repository, p.PullRequestSummary), Repository: repository, PullsURL: pullsURL(repository),
		Head: shorten(p.HeadSHA), Merge: shorten(p.MergeSHA), By: p.MergedBy, Problem: refused, Diff: fileLines(p.Diff), Cut: p.Cut}
	if v.Body, err = markdown(p.Body); err != nil {
		return err
	}
	for _, comment := range p.Comments {
		body, err := markdown(comment.Body)
		if err != nil {
			return err
		}
		v.Comments = append(v.Comments, commentView{Author: comment.Author, Body: body, At: at(comment.At, w.now())})
	}
	if err := w.addPullActions(c, &v, p); err != nil {
		return err
	}
	v.Statuses = each(p.Statuses, func(s PullRequestStatus) statusView {
		return statusView{Mark: statusMark(s.State), Context: outside(s.Context, s.URL), Description: s.Description, At: at(s.At, w.now())}
	})
	return w.show(c, status, "pull", page{Title: fmt.Sprintf("#%d %s", p.Number, p.Title), Body: v})
}

// markdown renders what others wrote: raw HTML in it is left out, and so are links that would run something.
func markdown(text string) (template.HTML, error) {
	tables := extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))
	var out bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(tables)).Convert([]byte(text), &out); err != nil {
		return "", fmt.Errorf("render Markdown: %w", err)
	}
	return template.HTML(out.String()), nil // goldmark escapes everything but its own tags
}

func pullMark(state string) mark {
	switch state {
	case "open":
		return mark{Shape: "open", Tone: "busy", Word: state}
	case "merged":
		return mark{Shape: "merge", Tone: "good", Word: state}
	}
	return mark{Shape: "dash", Tone: "off", Word: state}
}

func statusMark(state string) mark {
	switch state {
	case "success":
		return mark{Shape: "check", Tone: "good", Word: state}
	case "failure":
		return mark{Shape: "stop", Tone: "bad", Word: state}
	}
	return mark{Shape: "clock", Tone: "busy", Word: state}
}
