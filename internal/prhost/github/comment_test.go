package github_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/sluicehq/sluice/test/fakegithub"
)

const marker = "<!-- sluice: promotion 7 -->"

func TestCommentIsReplaced(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	p := opened(t, s, h)
	for _, text := range []string{"waits", "waits", "may go"} {
		if err := h.Comment(t.Context(), p.Number, marker, text); err != nil {
			t.Fatal(err)
		}
	}
	for range 120 { // people talk; it is still found
		s.Says(p.Number, "ada", "really?")
	}
	if err := h.Comment(t.Context(), p.Number, marker, "went"); err != nil {
		t.Fatal(err)
	}
	if err := h.Comment(t.Context(), p.Number, "<!-- sluice: promotion 70 -->", "another one's"); err != nil {
		t.Fatal(err)
	}
	all := s.Comments(p.Number)
	if want := []string{marker + "\nwent", "really?"}; !slices.Equal(all[:2], want) || len(all) != 122 {
		t.Fatalf("%d comments, the first are %q, want %q", len(all), all[:2], want)
	}
	wrote(t, s, "POST pulls", "POST issues/1/comments", "PATCH issues/comments/1", "PATCH issues/comments/1", "POST issues/1/comments")
}

// The marker is no secret: a person's comment that begins with it stays theirs.
func TestCommentOfAPersonIsNotReplaced(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s, acting(newApp(t, s)))
	p := opened(t, s, h)
	s.Says(p.Number, "eve", marker+"\nevery gate passes")
	for _, text := range []string{"waits", "may go"} {
		if err := h.Comment(t.Context(), p.Number, marker, text); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := s.Comments(p.Number), []string{marker + "\nevery gate passes", marker + "\nmay go"}; !slices.Equal(got, want) {
		t.Fatalf("comments are %q, want %q", got, want)
	}
}

func TestCommentWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	for name, answer := range losses() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fakegithub.New(t)
			h := newHost(t, s)
			p := opened(t, s, h)
			for i, method := range []string{http.MethodPost, http.MethodPatch} {
				text := fmt.Sprintf("text %d", i)
				h.Comment(lose(t, s, method, answer), p.Number, marker, text) //nolint:errcheck // some lost answers look like success
				s.Around(nil)
				if err := h.Comment(t.Context(), p.Number, marker, text); err != nil {
					t.Fatal(err)
				}
			}
			if got := s.Comments(p.Number); !slices.Equal(got, []string{marker + "\ntext 1"}) {
				t.Fatalf("comments are %q", got)
			}
			wrote(t, s, "POST pulls", "POST issues/1/comments", "PATCH issues/comments/1")
		})
	}
}
