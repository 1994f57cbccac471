package migration

import "strings"

// piece is the text between two semicolons.
type piece struct {
	start, end int  // in the text that was split
	line       int  // where it begins, from 1
	depth      int  // parentheses opened and not closed
	nesting    int  // a bound of the depth of its syntax tree
	broken     bool // a line for psql, or a quote or comment that is never closed
}

// splitter cuts SQL at the semicolons outside quotes, dollar quotes and comments.
// It follows PostgreSQL's lexer (scan.l), and goes on where the grammar would not.
type splitter struct {
	text   string
	at     int
	line   int
	start  int // of the current piece; -1 before its first sign
	begun  int // line of start
	depth  int
	nested nesting
	pieces []piece
}

// split cuts text whose first line has the given number.
func split(text string, line int) []piece {
	s := splitter{text: text, line: line, start: -1}
	for s.at < len(s.text) {
		at, line := s.at, s.line
		if closed := s.step(); !closed {
			if s.start < 0 {
				s.start, s.begun = at, line
			}
			s.at = len(s.text)
			s.flush(true)
		}
	}
	s.flush(false)
	return s.pieces
}

// step goes past one token; false if it has a beginning and no end.
func (s *splitter) step() bool {
	c := s.text[s.at]
	switch {
	case c == '\n':
		s.line++
		s.at++
	case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
		s.at++
	case c == '\\' && s.lineIsBlankBefore():
		s.flush(false)
		s.begin()
		s.skipLine()
		s.flush(true)
	case s.sees("--"):
		s.skipLine()
	case s.sees("/*"):
		return s.skipComment()
	case c == ';':
		s.flush(false)
		s.at++
	default:
		s.begin()
		return s.token(c)
	}
	return true
}

func (s *splitter) token(c byte) bool {
	switch c {
	case '\'':
		return s.skipString()
	case '"':
		return s.skipPast(`"`)
	case '$':
		return s.skipDollar()
	case '(':
		s.depth++
		s.nested.open()
	case ')':
		s.depth--
		s.nested.close()
	case '[':
		s.nested.open()
	case ']':
		s.nested.close()
	case ',':
		s.nested.comma()
	default:
		s.skipWord()
		return true
	}
	s.at++
	return true
}

const operatorSigns = "+-*/<>=~!@#%^&|`?:"

// skipWord goes past a word, an operator, or a sign that is neither.
func (s *splitter) skipWord() {
	start := s.at
	switch {
	case strings.IndexByte(operatorSigns, s.text[s.at]) >= 0:
		s.nested.add()
		for s.at < len(s.text) && strings.IndexByte(operatorSigns, s.text[s.at]) >= 0 && (s.at == start || !s.sees("--") && !s.sees("/*")) {
			s.at++
		}
	case isNameByte(s.text[s.at]):
		for s.at < len(s.text) && isNameByte(s.text[s.at]) {
			s.at++
		}
		s.nested.word(s.text[start:s.at])
	default:
		s.at++
	}
}

func (s *splitter) begin() {
	if s.start < 0 {
		s.start, s.begun = s.at, s.line
	}
}

func (s *splitter) flush(broken bool) {
	if s.start >= 0 {
		s.pieces = append(s.pieces, piece{start: s.start, end: s.at, line: s.begun, depth: s.depth, nesting: s.nested.max, broken: broken})
	}
	s.start, s.depth, s.nested = -1, 0, nesting{}
}

func (s *splitter) sees(prefix string) bool { return strings.HasPrefix(s.text[s.at:], prefix) }

func (s *splitter) lineIsBlankBefore() bool {
	line := s.text[strings.LastIndexByte(s.text[:s.at], '\n')+1 : s.at]
	return strings.TrimSpace(line) == ""
}

func (s *splitter) skipLine() {
	for s.at < len(s.text) && s.text[s.at] != '\n' {
		s.at++
	}
}

// skipComment goes past a comment, which may hold others.
func (s *splitter) skipComment() bool {
	for depth := 0; s.at < len(s.text); {
		switch {
		case s.sees("/*"):
			depth++
			s.at += 2
		case s.sees("*/"):
			depth--
			s.at += 2
		default:
			s.advance()
		}
		if depth == 0 {
			return true
		}
	}
	return false
}

// skipString goes past a string. After E a backslash takes the next sign with
// it, also where the string goes on after a line break. A doubled quote is
// simply two strings side by side.
func (s *splitter) skipString() bool {
	if !s.escapes() {
		return s.skipPast(`'`)
	}
	for {
		if !s.skipEscaped() {
			return false
		}
		next := s.at
		for next < len(s.text) && strings.IndexByte(" \t\r\n\f\v", s.text[next]) >= 0 {
			next++
		}
		continued := next < len(s.text) && s.text[next] == '\'' &&
			(next == s.at || strings.ContainsAny(s.text[s.at:next], "\r\n"))
		if !continued {
			return true
		}
		for s.at < next {
			s.advance()
		}
	}
}

func (s *splitter) skipEscaped() bool {
	for s.at++; s.at < len(s.text); s.advance() {
		switch s.text[s.at] {
		case '\\':
			s.advance()
		case '\'':
			s.at++
			return true
		}
		if s.at >= len(s.text) {
			return false
		}
	}
	return false
}

// escapes says whether the quote here belongs to E'…'.
func (s *splitter) escapes() bool {
	return s.at > 0 && (s.text[s.at-1] == 'e' || s.text[s.at-1] == 'E') && (s.at == 1 || !isNameByte(s.text[s.at-2]))
}

// skipDollar goes past $tag$ … $tag$; any other dollar is a sign like others.
func (s *splitter) skipDollar() bool {
	end := s.at + 1
	for end < len(s.text) && isNameByte(s.text[end]) && s.text[end] != '$' {
		end++
	}
	startsAsDigit := s.at+1 < len(s.text) && s.text[s.at+1] >= '0' && s.text[s.at+1] <= '9'
	if end >= len(s.text) || s.text[end] != '$' || startsAsDigit {
		s.at++
		return true
	}
	tag := s.text[s.at : end+1]
	s.at = end
	return s.skipPast(tag)
}

// skipPast goes past the next end after the sign here.
func (s *splitter) skipPast(end string) bool {
	length := strings.Index(s.text[s.at+1:], end)
	if length < 0 {
		return false
	}
	target := s.at + 1 + length + len(end)
	s.line += strings.Count(s.text[s.at:target], "\n")
	s.at = target
	return true
}

func (s *splitter) advance() {
	if s.at < len(s.text) && s.text[s.at] == '\n' {
		s.line++
	}
	s.at++
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}
