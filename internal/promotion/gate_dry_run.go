package promotion

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// dryRunTime is how long the dry run of one deployment may take before its outcome is unknown.
const dryRunTime = 20 * time.Second

// serverDryRun asks each cluster what applying the merge would do. What a dry run cannot check is said, and holds nothing.
func (s *Service) serverDryRun(ctx context.Context, f *situation) GateResult {
	if len(f.deployments) == 0 {
		return block("no Argo CD Application deploys %s: there is nothing to ask", f.Target.Path)
	}
	passed := 0
	var refused, unchecked []string
	for _, d := range f.deployments {
		r, err := s.dryRun(ctx, f, d)
		if err != nil {
			return block("unknown whether %s in %s would take it: %v", d.Key.Name, d.Key.Cluster, err)
		}
		passed += r.Passed
		for _, o := range r.Refused {
			refused = append(refused, d.Key.Cluster+": "+o)
		}
		for _, o := range r.Unchecked {
			unchecked = append(unchecked, d.Key.Cluster+": "+o)
		}
	}
	inputs := map[string]any{"revision": f.MergeSHA, "passed": passed, "refused": refused, "unchecked": unchecked}
	left := ""
	if len(unchecked) > 0 {
		left = fmt.Sprintf(" Unchecked: %s.", strings.Join(unchecked, "; "))
	}
	if len(refused) > 0 {
		return block("the API server would refuse %s.%s", strings.Join(refused, "; "), left).with(inputs)
	}
	return pass("the API server takes %s.%s", counted(passed, "object"), left).with(inputs)
}

func (s *Service) dryRun(ctx context.Context, f *situation, d Deployment) (DryRun, error) {
	inspector := s.Inspectors[d.Key.Cluster]
	if inspector == nil {
		return DryRun{}, fmt.Errorf("no dry run is connected for cluster %s", d.Key.Cluster)
	}
	want, err := s.desired(ctx, f.Target, d, f.MergeSHA)
	if err != nil {
		return DryRun{}, err
	}
	ctx, stop := context.WithTimeout(ctx, dryRunTime)
	defer stop()
	return inspector.DryRun(ctx, d.Key, want)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
