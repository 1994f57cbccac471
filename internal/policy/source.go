package policy

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/sluicehq/sluice/internal/promotion"
)

const (
	deepest    = 32  // levels of YAML; a policy has eight
	mostFaults = 500 // of one file that are told apart
)

// source is a policy file as it is read, with what was found wrong so far.
type source struct {
	path           string
	faults         promotion.PolicyFaults
	ofEnvironments []string // keys that are only said of environments, for who writes one elsewhere
}

func newSource(path string) *source { return &source{path: path, ofEnvironments: keys[""]} }

func (s *source) fault(line int, code, format string, args ...any) {
	if len(s.faults) > mostFaults {
		return
	}
	if len(s.faults) == mostFaults {
		code, format, args = TooLarge, "there are more faults than %d: mend these first", []any{mostFaults}
	}
	s.faults = append(s.faults, promotion.PolicyFault{File: s.path, Line: line, Code: code, Message: fmt.Sprintf(format, args...)})
}

// parse gives the file's content. There is none when the file is empty, all comments, or cannot be read.
func (s *source) parse(text string) (field, bool) {
	if len(text) > MaxSize {
		s.fault(0, TooLarge, "the file is over 1 MiB, which no policy needs")
		return field{}, false
	}
	loader, err := yaml.NewLoader(strings.NewReader(text), yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(deepest))))
	if err != nil {
		s.notYAML(err)
		return field{}, false
	}
	var document, second yaml.Node
	if err := loader.Load(&document); errors.Is(err, io.EOF) {
		return field{}, false
	} else if err != nil {
		s.notYAML(err)
		return field{}, false
	}
	if err := loader.Load(&second); err == nil {
		s.fault(second.Line, SeveralDocuments, "another YAML document starts here: one would be read, the others not")
		return field{}, false
	} else if !errors.Is(err, io.EOF) {
		s.notYAML(err)
		return field{}, false
	}
	content := document.Content[0]
	if content.ShortTag() == "!!null" && content.Value == "" {
		return field{}, false
	}
	return field{source: s, node: content}, true
}

func (s *source) notYAML(err error) {
	line, text := 0, err.Error()
	var at *yaml.LoadError
	if errors.As(err, &at) {
		line, text = at.Mark.Line, at.Message
	}
	s.fault(line, NotYAML, "not YAML: %s", text)
}
