package rollback

import "slices"

// artifactAvailable: the old image is there, whole and for every platform it may
// have to run on, and so is the chart. Without its manifest nothing is said of
// what it refers to.
func artifactAvailable(a Artifact) findings {
	var f findings
	f.state(a.ImageManifest, Absent, "image-manifest-absent", "image-manifest-unread", Present)
	if a.ImageManifest == Present {
		f.layers(a.MissingLayers)
		f.platforms(a.ImagePlatforms, a.NeededPlatforms)
	}
	f.state(a.Chart, Absent, "chart-version-absent", "chart-unread", Present, NotUsed)
	return f
}

func (f *findings) layers(missing *int) {
	switch {
	case missing == nil:
		f.unknown("image-layers-unread")
	case *missing != 0:
		f.no("image-layers-missing")
	}
}

func (f *findings) platforms(image, needed []string) {
	if image == nil || needed == nil {
		f.unknown("platforms-unread")
		return
	}
	for _, platform := range needed {
		if !slices.Contains(image, platform) {
			f.no("image-platform-missing:" + platform)
		}
	}
}
