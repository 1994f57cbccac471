package simulation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func (s *Simulation) load() error {
	text, err := os.ReadFile(s.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("read the simulated cluster: %w", err)
	}
	var objects []*unstructured.Unstructured
	if err := json.Unmarshal(text, &objects); err != nil {
		return fmt.Errorf("simulated cluster in %s: %w; remove the file to start over", s.File, err)
	}
	for _, o := range objects {
		if err := s.store.load(o); err != nil {
			return fmt.Errorf("simulated cluster in %s: %w; remove the file to start over", s.File, err)
		}
	}
	return nil
}

// save writes the file if anything changed. In the midst of a step this is a state like any other: the stand-ins
// go on from whatever they find.
func (s *Simulation) save() error {
	s.saving.Lock()
	defer s.saving.Unlock()
	objects, version := s.store.all()
	if version == s.saved {
		return nil
	}
	text, err := json.Marshal(objects)
	if err != nil {
		return fmt.Errorf("save the simulated cluster: %w", err)
	}
	if err := replaceFile(s.File, text); err != nil {
		return fmt.Errorf("save the simulated cluster: %w", err)
	}
	s.saved = version
	return nil
}

// replaceFile leaves either the old content or the new one, whenever it is killed.
func replaceFile(name string, content []byte) error {
	fresh := name + ".new"
	f, err := os.OpenFile(fresh, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(fresh, name)
}
