package web

import "strings"

// diffLine is one line of a change with what it does.
type diffLine struct{ Class, Text string }

// changeLines takes a rendered change apart: signs stand before objects, and indented before values.
func changeLines(diff string) []diffLine {
	return lines(diff, func(line string) string {
		switch text := strings.TrimLeft(line, " "); {
		case strings.HasPrefix(text, "+ "):
			return "added"
		case strings.HasPrefix(text, "- "):
			return "removed"
		case strings.HasPrefix(text, "~ "):
			return "file"
		}
		return "same"
	})
}

// fileLines takes a unified diff apart: the sign is the first character of a line.
func fileLines(diff string) []diffLine {
	header := true // between a file's "diff" line and its first hunk
	return lines(diff, func(line string) string {
		switch {
		case strings.HasPrefix(line, "diff "):
			header = true
		case strings.HasPrefix(line, "@@"):
			header = false
			return "file"
		case header:
		case strings.HasPrefix(line, "+"):
			return "added"
		case strings.HasPrefix(line, "-"):
			return "removed"
		default:
			return "same"
		}
		return "file"
	})
}

func lines(diff string, class func(line string) string) []diffLine {
	diff = strings.TrimRight(diff, "\n")
	if diff == "" {
		return nil
	}
	return each(strings.Split(diff, "\n"), func(line string) diffLine { return diffLine{class(line), line} })
}
