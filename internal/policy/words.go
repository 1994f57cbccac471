package policy

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// describe says what a value is, to somebody who wrote something else than they meant.
func describe(n *yaml.Node) string {
	switch n.ShortTag() {
	case "!!map":
		return "a mapping"
	case "!!seq":
		return "a list"
	case "!!bool":
		return "the truth value " + n.Value
	case "!!int", "!!float":
		return "the number " + brief(n.Value)
	case "!!timestamp":
		return "the date " + brief(n.Value)
	}
	return "the text " + cut(n.Value)
}

// cut quotes a text, and shortens what is too long to show.
func cut(text string) string { return strconv.Quote(brief(text)) }

func brief(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// listed joins words as people do: a, b or c.
func listed(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// instead says what could be written for an unknown word: the one that was probably meant, otherwise all.
func instead(word string, known []string) string {
	if text := meant(word, known); text != "" {
		return text
	}
	return "; what can stand here: " + strings.Join(known, ", ")
}

func meant(word string, known []string) string {
	if best := nearest(word, known); best != "" {
		return fmt.Sprintf(": did you mean %q?", best)
	}
	return ""
}

// nearest is the known word that takes the fewest edits to become, if they are few for its length; or one that
// the word starts, or that starts the word.
func nearest(word string, known []string) string {
	const longest = 40 // of a word worth comparing
	if len(word) > longest {
		return ""
	}
	word = strings.ToLower(word)
	best, least := "", 0
	for _, candidate := range known {
		edits := distance(word, candidate)
		if len(word) >= 3 && (strings.HasPrefix(candidate, word) || strings.HasPrefix(word, candidate)) {
			edits = 1
		}
		if edits <= max(1, len(candidate)/3) && (best == "" || edits < least) {
			best, least = candidate, edits
		}
	}
	return best
}

// distance counts the letters to insert, remove or replace (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
