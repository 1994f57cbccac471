package manifest

import (
	"io/fs"
	"maps"
)

// Several makes one edit in each of some overlays, in their order, as one change: where they share a file, each edit goes on top of
// the ones before. It is refused whole if one of them is, and if one undoes or widens another: in the end each has to be there
// already. Of each Edit, Before is without any of the edits and After with all of them; Files are whole with all of them, too.
func Several(fsys fs.FS, overlays []string, run func(tree fs.FS, overlay string) (Edit, error)) ([]Edit, error) {
	edits, files := make([]Edit, len(overlays)), map[string][]byte{}
	for i, overlay := range overlays {
		alone, err := run(fsys, overlay)
		if err != nil {
			return nil, err
		}
		edits[i] = alone
		if len(files) == 0 {
			maps.Copy(files, alone.Files)
			continue
		}
		edit, err := run(Edited(fsys, files), overlay)
		if err != nil {
			return nil, err
		}
		edits[i].Files = edit.Files
		maps.Copy(files, edit.Files)
	}
	if len(overlays) == 1 {
		return edits, nil
	}
	for i, overlay := range overlays {
		again, err := run(Edited(fsys, files), overlay)
		if err != nil {
			return nil, err
		}
		if !again.NoOp {
			return nil, refuse(UnintendedChange, overlay, 0, "the edit of another of the overlays changes what this one renders: edit them one at a time")
		}
		edits[i].After = again.After
		for name := range edits[i].Files {
			edits[i].Files[name] = files[name]
		}
	}
	return edits, nil
}
