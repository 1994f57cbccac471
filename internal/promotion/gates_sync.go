package promotion

import "context"

// syncedContent asks that the revision to be applied renders what was approved.
func (s *Service) syncedContent(ctx context.Context, f *situation) GateResult {
	tree, err := f.site.Repository.Tree(ctx, f.MergeSHA)
	if err != nil {
		return block("commit %s cannot be read: %v", short(f.MergeSHA), err)
	}
	rendered, err := s.Manifests.Render(tree, f.Target.Path)
	if err != nil {
		return block("%s cannot be rendered at %s: %v", f.Target.Path, short(f.MergeSHA), err)
	}
	if f.ChangesPolicy {
		if rendered.Hash, err = s.withPolicy(rendered.Hash, tree); err != nil {
			return block("the policy at %s cannot be read: %v", short(f.MergeSHA), err)
		}
	}
	inputs := map[string]any{"revision": f.MergeSHA, "rendered": rendered.Hash, "recorded": f.RenderedHash}
	if rendered.Hash != f.RenderedHash {
		return block("%s renders something else than what was recorded and approved. Promote again from today's main.",
			short(f.MergeSHA)).with(inputs)
	}
	return pass("revision %s renders exactly what was approved", short(f.MergeSHA)).with(inputs)
}
