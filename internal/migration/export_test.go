package migration

import "slices"

// Forward are the statements of files, one by one, as their tool runs them: without the Downs.
func Forward(tool Tool, files []File) ([]string, error) {
	result, err := Check(tool, files, nil)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, judged := range result.Files {
		f := files[slices.IndexFunc(files, func(f File) bool { return f.Name == judged.File })]
		sections := []section{{text: f.Content, line: 1}}
		if tool == Goose {
			sections, _, _ = gooseSections(f.Content)
		}
		for _, s := range sections {
			if s.whole {
				all = append(all, s.text)
				continue
			}
			all = append(all, Pieces(s.text)...)
		}
	}
	return all, nil
}

// Pieces are the statements of a text.
func Pieces(text string) []string {
	var all []string
	for _, p := range split(text, 1) {
		all = append(all, text[p.start:p.end])
	}
	return all
}
