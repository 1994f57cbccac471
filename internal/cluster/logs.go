package cluster

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/sluicehq/sluice/internal/health"
	"github.com/sluicehq/sluice/internal/manifest"
)

// Bounds of what is read and kept of a log.
const (
	logLines   = 20
	logLine    = 500     // bytes of one line
	logBytes   = 4 << 10 // of all of them
	logRead    = 64 << 10
	logTimeout = 5 * time.Second
)

// Logs reads the last lines of containers from an API server, for Options.Output.
func Logs(client rest.Interface) func(context.Context, health.Crash) (string, error) {
	return func(ctx context.Context, c health.Crash) (string, error) {
		output, err := client.Get().AbsPath("/api/v1/namespaces", c.Namespace, "pods", c.Pod, "log").Param("container", c.Container).
			Param("previous", strconv.FormatBool(c.Previous)).Param("tailLines", strconv.Itoa(logLines)).Param("limitBytes", strconv.Itoa(logRead)).DoRaw(ctx)
		return string(output), err
	}
}

// logQuestion is what a container wrote before it ended, for an Application's sake.
type logQuestion struct {
	crash       health.Crash
	application cache.ObjectName
}

// logsOf is the log of the crash that the diagnosis names, as far as it was read. It is read beside the watch, and the Application looked at
// again; until then the log of the restart before is shown.
func (c *Cluster) logsOf(app *unstructured.Unstructured, pods []*unstructured.Unstructured) map[health.Crash]health.Log {
	crashes := health.Crashes(pods)
	if c.Output == nil || len(crashes) == 0 {
		return nil
	}
	crash := crashes[0]
	c.mu.Lock()
	defer c.mu.Unlock()
	if log, read := c.logs[crash]; read {
		return map[health.Crash]health.Log{crash: log}
	}
	c.questions.Add(logQuestion{crash, cache.MetaObjectToName(app)})
	for other, log := range c.logs {
		if sameContainer(other, crash) {
			return map[health.Crash]health.Log{crash: log}
		}
	}
	return nil
}

func sameContainer(a, b health.Crash) bool { return a.UID == b.UID && a.Container == b.Container }

// readLogs answers the questions until there are no more.
func (c *Cluster) readLogs(ctx context.Context) {
	for {
		q, stopped := c.questions.Get()
		if stopped {
			return
		}
		log := c.readLog(ctx, q.crash)
		c.mu.Lock()
		maps.DeleteFunc(c.logs, func(old health.Crash, _ health.Log) bool {
			_, there, err := c.informers[Pods].GetStore().GetByKey(cache.NewObjectName(old.Namespace, old.Pod).String())
			return sameContainer(old, q.crash) || err == nil && !there
		})
		c.logs[q.crash] = log
		c.mu.Unlock()
		c.questions.Done(q)
		c.queue.Add(q.application)
	}
}

func (c *Cluster) readLog(ctx context.Context, crash health.Crash) health.Log {
	ctx, done := context.WithTimeout(ctx, logTimeout)
	defer done()
	output, err := c.Output(ctx, crash)
	switch {
	case err == nil:
		return health.Log{Text: lastLines(output)}
	case apierrors.IsForbidden(err):
		return health.Log{Unread: "Sluice may not read logs here. Apply deploy/kubernetes/logs.yaml to have its last lines shown."}
	case apierrors.IsNotFound(err) || apierrors.IsBadRequest(err):
		return health.Log{Unread: "The node has no log of it any more."}
	case errors.Is(err, context.DeadlineExceeded):
		return health.Log{Unread: "The cluster did not give its log in time."}
	}
	return health.Log{Unread: "Its log could not be read: " + strings.Join(manifest.MaskedLog(firstLine(err)), "")}
}

// lastLines are masked before anything is cut off, so that no credential is left without what shows that it is one.
func lastLines(output string) string {
	if len(output) >= logRead {
		output = output[:strings.LastIndexByte(output, '\n')+1] // the last line is not whole
	}
	lines := manifest.MaskedLog(output)
	lines = lines[max(0, len(lines)-logLines):]
	var kept []string
	size := 0
	for _, line := range slices.Backward(lines) {
		if len(line) > logLine {
			line = strings.ToValidUTF8(line[:logLine], "") + "…"
		}
		if size += len(line) + 1; size > logBytes {
			break
		}
		kept = append(kept, line)
	}
	slices.Reverse(kept)
	return strings.Join(kept, "\n")
}
