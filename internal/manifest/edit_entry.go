package manifest

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// pin gives the splices that make an entry render its image as target. name is
// the image's name without the entry. Pairs that have to go go first and one
// by one: more says to apply the splices, read the file again and go on.
func (s *source) pin(e entry, name string, target reference) (splices []splice, more bool, err error) {
	if e.shared {
		return nil, false, s.shares(e.line)
	}
	for _, key := range []string{"newTag", "tagSuffix"} {
		if value, merged := field(e.node, key); merged && scalar(value) != "" {
			return nil, false, s.shares(e.line)
		}
	}
	survivor, dying := s.digestPair(e.node)
	if len(dying) > 0 {
		splices, err := s.drop(e.node, dying[0], *survivor, target.digest)
		return splices, true, err
	}
	splices, added, err := s.rename(e, name, target.repository)
	if err != nil {
		return nil, false, err
	}
	if survivor == nil {
		added = append(added, addition{key: "digest", value: target.digest})
	} else {
		change, err := s.turnIntoDigest(*survivor, target.digest)
		if err != nil {
			return nil, false, err
		}
		splices = append(splices, change...)
	}
	if len(added) > 0 {
		change, err := s.addPairs(e.node, added)
		if err != nil {
			return nil, false, err
		}
		splices = append(splices, change)
	}
	return splices, false, nil
}

// rename makes the entry give the repository, where it does not already.
func (s *source) rename(e entry, name, repository string) ([]splice, []addition, error) {
	p, ok := own(e.node, "newName")
	switch {
	case e.newName == repository || e.newName == "" && name == repository:
		return nil, nil, nil
	case ok:
		splices, err := s.replaceValue(p, repository)
		return splices, nil, err
	}
	return nil, []addition{{key: "newName", value: repository}}, nil
}

func (s *source) shares(line int) *Refusal {
	return refuse(Alias, s.name, line,
		"an alias or a merge shares this entry with another place in the file: write it out first")
}

// lost is for tokens that cannot be told apart in the bytes.
func (s *source) lost(node *yaml.Node, err error) *Refusal {
	return refuse(s.bad, s.name, node.Line, "%v", err)
}

// digestPair picks the pair that is to hold the digest, and those to remove.
// A pair behind the dash of a list stays where it is, so that no other pair
// has to move there; otherwise an existing digest is best.
func (s *source) digestPair(entry *yaml.Node) (survivor *pair, dying []pair) {
	var found []pair
	best := -1
	for _, key := range []string{"digest", "newTag", "tagSuffix"} {
		p, ok := own(entry, key)
		if !ok {
			continue
		}
		found = append(found, p)
		if p.key == entry.Content[0] && entry.Style&yaml.FlowStyle == 0 {
			best = len(found) - 1
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	best = max(best, 0)
	for i, p := range found {
		if i != best {
			dying = append(dying, p)
		}
	}
	return &found[best], dying
}

// turnIntoDigest sets a pair's value, and its key where that is not digest. A
// digest that was in quotes stays in the same quotes.
func (s *source) turnIntoDigest(p pair, digest string) ([]splice, error) {
	if strings.EqualFold(p.key.Value, "digest") {
		if p.value.Value == digest && p.value.Kind == yaml.ScalarNode {
			return nil, nil
		}
		return s.replaceValue(p, digest)
	}
	if s.aliased[p.key] {
		return nil, s.shares(p.key.Line)
	}
	key, err := s.token(p.key)
	if err != nil {
		return nil, s.lost(p.key, err)
	}
	change, err := s.replaceValue(p, digest)
	if err != nil {
		return nil, err
	}
	return append(change, splice{key, write("digest", p.key.Style, s.json)}), nil
}

// replaceValue writes a new value where the pair's value stands, in the same
// quotes. An anchor on the value stays, if no alias uses it.
func (s *source) replaceValue(p pair, value string) ([]splice, error) {
	return s.replaceToken(p, write(value, p.value.Style, s.json))
}

// replaceToken puts what is written already where the pair's value stands.
func (s *source) replaceToken(p pair, written string) ([]splice, error) {
	if s.aliased[p.value] {
		return nil, s.shares(p.value.Line)
	}
	if deref(p.value).Kind != yaml.ScalarNode {
		return nil, s.lost(p.value, errNotScalar)
	}
	if isEmpty(p.value) {
		if p.key == nil {
			return nil, s.lost(p.value, errEmptyElement)
		}
		at, err := s.pairEnd(p)
		if err != nil {
			return nil, s.lost(p.key, err)
		}
		return []splice{{span{at, at}, " " + written}}, nil
	}
	token, err := s.token(p.value)
	if err != nil {
		return nil, s.lost(p.value, err)
	}
	return []splice{{token, written}}, nil
}

// drop removes a pair. If that is the digest, the survivor takes it over in the
// same quotes.
func (s *source) drop(entry *yaml.Node, dying, survivor pair, digest string) ([]splice, error) {
	change, err := s.removePair(entry, dying)
	if err != nil || !strings.EqualFold(dying.key.Value, "digest") || isEmpty(survivor.value) {
		return []splice{change}, err
	}
	if s.aliased[survivor.value] {
		return nil, s.shares(survivor.value.Line)
	}
	value, err := s.token(survivor.value)
	if err != nil {
		return nil, s.lost(survivor.value, err)
	}
	return []splice{{value, write(digest, dying.value.Style, s.json)}, change}, nil
}

// removePair takes a pair out: in block style its line, or all but the comment
// on it; in flow style it and one comma.
func (s *source) removePair(parent *yaml.Node, p pair) (splice, error) {
	if s.aliased[p.value] || s.aliased[p.key] {
		return splice{}, s.shares(p.key.Line)
	}
	end, err := s.pairEnd(p)
	if err != nil {
		return splice{}, s.lost(p.key, err)
	}
	start := s.offset(p.key)
	if parent.Style&yaml.FlowStyle != 0 {
		return splice{span: s.flowHole(start, end)}, nil
	}
	lineStart, lineEnd := s.lineStart(start), s.lineEnd(end)
	switch rest := bytes.TrimLeft(s.data[end:lineEnd], " \t"); {
	case len(rest) > 0:
		return splice{span: span{start, lineEnd - len(rest)}}, nil
	case lineEnd == len(s.data):
		// The last line of a file without a final line break: the break before
		// it goes, so that the file still ends without one.
		return splice{span: span{s.lineEnd(max(lineStart-1, 0)), lineEnd}}, nil
	}
	return splice{span: span{lineStart, s.nextLine(end)}}, nil
}

// flowHole widens a pair by the comma behind it or, for the last pair, by the
// one before.
func (s *source) flowHole(start, end int) span {
	next := end
	for next < len(s.data) && isSpace(s.data[next]) {
		next++
	}
	if next < len(s.data) && s.data[next] == ',' {
		next++
		for next < len(s.data) && (s.data[next] == ' ' || s.data[next] == '\t') {
			next++
		}
		if alone := len(bytes.TrimSpace(s.data[s.lineStart(start):start])) == 0 && s.lineEnd(next) == next; alone {
			return span{s.lineStart(start), s.nextLine(next)}
		}
		return span{start, next}
	}
	previous := start
	for previous > 0 && isSpace(s.data[previous-1]) {
		previous--
	}
	if previous > 0 && s.data[previous-1] == ',' {
		return span{previous - 1, end}
	}
	return span{start, end}
}
