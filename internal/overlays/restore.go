package overlays

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/sluicehq/sluice/internal/manifest"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Revert implements promotion.Manifests.
func (o Overlays) Revert(before, after, today fs.FS, files []string) (promotion.Restored, error) {
	reverted, err := manifest.Revert(before, after, today, files)
	out := promotion.Restored{Files: reverted.Files, Deletes: reverted.Deletes}
	if len(reverted.Revived) > 0 {
		out.Notes = []string{strings.Join(reverted.Revived, ", ") + ": what the change did to secrets is undone. Credentials in them may have been revoked"}
	}
	return out, err
}

// Restore implements promotion.Manifests.
func (o Overlays) Restore(today, then fs.FS, path string, r promotion.Restoration) (promotion.Restored, error) {
	restored, err := manifest.Restore(today, then, manifest.Restoration{Overlay: path, Base: r.Base, Secrets: r.Secrets})
	if err != nil {
		return promotion.Restored{}, err
	}
	out := promotion.Restored{Files: restored.Files, Deletes: restored.Deletes}
	note := func(format string, files []string) {
		if len(files) > 0 {
			out.Notes = append(out.Notes, fmt.Sprintf(format, strings.Join(files, ", ")))
		}
	}
	note("%s: secrets stay as they are today", restored.Kept)
	note("%s: secrets that are gone today are not brought back", restored.Lost)
	note("%s: old secrets come back. Credentials in them may have been revoked, and keys that sealed them may be lost", restored.Revived)
	return out, nil
}
