package argocd

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/internal/promotion"
)

func (e *expander) git(g Git) ([]map[string]any, error) {
	switch {
	case e.known.RepositoryURL == "":
		return nil, errors.New("the address of this repository is not known")
	case !promotion.SameRepository(e.known.RepositoryURL, g.RepoURL):
		return nil, fmt.Errorf("it reads another repository, %s", withoutUser(g.RepoURL))
	case !e.known.follows(g.Revision):
		return nil, fmt.Errorf("it reads the revision %s, not %s", g.Revision, e.known.Branch)
	case len(g.Directories) > 0:
		return e.directories(g)
	case len(g.Files) > 0:
		return e.gitFiles(g)
	}
	return nil, errors.New("it names neither directories nor files")
}

func (e *expander) directories(g Git) ([]map[string]any, error) {
	folders, err := e.files.foldersMatching(g.Directories)
	if err != nil {
		return nil, err
	}
	var sets []map[string]any
	for _, folder := range folders {
		parameters := map[string]any{}
		e.addPath(g, parameters, folder, "")
		if err := e.add(g.Values, parameters); err != nil {
			return nil, err
		}
		sets = append(sets, parameters)
	}
	return sets, nil
}

func (e *expander) gitFiles(g Git) ([]map[string]any, error) {
	files, doubt, err := e.files.filesMatching(g.Files)
	if err != nil {
		return nil, err
	}
	if doubt != "" {
		e.note("whether its files include %s depends on Argo CD's --enable-new-git-file-globbing; the default is taken here", doubt)
	}
	var sets []map[string]any
	for _, file := range files {
		objects, err := e.files.objects(file)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			parameters := maps.Clone(e.shape(object))
			if parameters == nil {
				parameters = map[string]any{}
			}
			e.addPath(g, parameters, path.Dir(file), path.Base(file))
			if err := e.add(g.Values, parameters); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			sets = append(sets, parameters)
		}
	}
	return sets, nil
}

// addPath says where a folder or a file is.
func (e *expander) addPath(g Git, parameters map[string]any, folder, file string) {
	segments := strings.Split(folder, "/")
	where := map[string]any{"path": folder, "basename": path.Base(folder), "basenameNormalized": normalize(path.Base(folder))}
	if file != "" {
		where["filename"], where["filenameNormalized"] = file, normalize(file)
	}
	if e.set.GoTemplate {
		where["segments"] = segments
		if g.PathParamPrefix != "" {
			parameters[g.PathParamPrefix] = map[string]any{"path": where}
		} else {
			parameters["path"] = where
		}
		return
	}
	name := joined(g.PathParamPrefix, "path")
	for key, value := range where {
		parameters[name+"."+key] = value
	}
	delete(parameters, name+".path")
	parameters[name] = folder
	for i, segment := range segments {
		if segment != "" {
			parameters[name+"["+strconv.Itoa(i)+"]"] = segment
		}
	}
}
