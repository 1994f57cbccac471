package argocd

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"text/template"
)

// maxText bounds what one template may write.
const maxText = 1 << 20

// filler fills parameters into the strings of a template: by text/template with
// goTemplate, otherwise by the old form {{ name }}, which leaves alone what it
// does not know. It keeps the parsed templates.
type filler struct {
	goTemplate bool
	options    []string
	functions  template.FuncMap
	parsed     map[string]*template.Template
}

func newFiller(s ApplicationSet) *filler {
	f := &filler{goTemplate: s.GoTemplate, options: s.GoTemplateOptions, parsed: map[string]*template.Template{}}
	if f.goTemplate {
		f.functions = functions()
	}
	return f
}

// value fills in every string of decoded JSON, keys too.
func (f *filler) value(v any, parameters map[string]any) (any, error) {
	switch v := v.(type) {
	case string:
		return f.text(v, parameters)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			filled, err := f.value(item, parameters)
			if err != nil {
				return nil, err
			}
			list[i] = filled
		}
		return list, nil
	case map[string]any:
		return f.object(v, parameters)
	}
	return v, nil
}

func (f *filler) object(v map[string]any, parameters map[string]any) (map[string]any, error) {
	filled := make(map[string]any, len(v))
	for key, item := range v {
		name, err := f.text(key, parameters)
		if err != nil {
			return nil, err
		}
		if filled[name], err = f.value(item, parameters); err != nil {
			return nil, err
		}
	}
	return filled, nil
}

var oldForm = regexp.MustCompile(`(?s)\{\{(.*?)\}\}`)

func (f *filler) text(text string, parameters map[string]any) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	if f.goTemplate {
		return f.execute(text, parameters)
	}
	filled := oldForm.ReplaceAllStringFunc(text, func(tag string) string {
		if value, ok := parameters[strings.TrimSpace(tag[2:len(tag)-2])].(string); ok {
			return value
		}
		return tag
	})
	if len(filled) > maxText {
		return "", errTooLong
	}
	return filled, nil
}

var errTooLong = errors.New("the template makes more than 1 MiB of text")

// execute runs one template. Functions of sprig may panic.
func (f *filler) execute(text string, parameters map[string]any) (filled string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the template %q: %v", text, p)
		}
	}()
	parsed, known := f.parsed[text]
	if !known {
		if parsed, err = template.New("").Option(f.options...).Funcs(f.functions).Parse(text); err != nil {
			return "", fmt.Errorf("the template %q: %w", shorten(text), cause(err))
		}
		f.parsed[text] = parsed
	}
	var out limited
	if err := parsed.Execute(&out, parameters); err != nil {
		return "", fmt.Errorf("the template %q: %w", shorten(text), cause(err))
	}
	return out.String(), nil
}

// limited is a buffer that ends the template which writes too much.
type limited struct{ bytes.Buffer }

func (l *limited) Write(data []byte) (int, error) {
	if l.Len()+len(data) > maxText {
		return 0, errTooLong
	}
	return l.Buffer.Write(data)
}

// cause leaves out where in the nameless template an error happened.
func cause(err error) error {
	if errors.Is(err, errTooLong) {
		return errTooLong
	}
	_, message, found := strings.Cut(err.Error(), ">: ")
	if !found {
		message = strings.TrimPrefix(err.Error(), "template: ")
	}
	return errors.New(message)
}

func shorten(text string) string {
	if len(text) > 80 {
		return strings.ToValidUTF8(text[:80], "") + "…"
	}
	return text
}
