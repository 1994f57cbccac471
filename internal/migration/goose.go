package migration

import "strings"

// gooseSections takes a goose file apart by its annotations, which goose looks
// for line by line. found says whether it has a +goose Up at all.
func gooseSections(text string) (up, down []section, found bool) {
	var (
		target *[]section // where lines go; nil before the first Up
		block  strings.Builder
		first  = 1
		whole  bool
	)
	flush := func(next int) {
		if target != nil && strings.TrimSpace(block.String()) != "" {
			*target = append(*target, section{text: block.String(), line: first, whole: whole})
		}
		block.Reset()
		first = next
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		command, annotated := gooseAnnotation(line)
		if !annotated {
			block.WriteString(line)
			continue
		}
		flush(number + 1)
		switch command {
		case "up":
			target, found, whole = &up, true, false
		case "down":
			target, whole = &down, false
		case "statementbegin":
			whole = true
		case "statementend":
			whole = false
		}
	}
	flush(number + 1)
	return up, down, found
}

// gooseAnnotation reads a line such as "-- +goose Up", without regard to case and
// blanks, as goose does.
func gooseAnnotation(line string) (command string, annotated bool) {
	comment, isComment := strings.CutPrefix(strings.TrimSpace(line), "--")
	if !isComment {
		return "", false
	}
	words := strings.Fields(strings.ToLower(comment))
	if len(words) < 2 || words[0] != "+goose" {
		return "", false
	}
	return strings.Join(words[1:], " "), true
}
