package builtin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"

	"github.com/sluicehq/sluice/internal/promotion"
)

const (
	zeroSHA     = "0000000000000000000000000000000000000000"
	commandSize = 1 << 20 // bytes of commands in one push: some ten thousand refs
	drainSize   = 1 << 20 // bytes of a refused push read so that the client hears why
)

// receive takes a push. Its commands are read first, so that a refusal moves
// nothing and reaches whoever pushes as git's own kind of answer.
func (h *Host) receive(w http.ResponseWriter, req *http.Request) {
	r, ok := h.requested(w, req)
	if !ok {
		return
	}
	by, ok := h.pusher(w, req)
	if !ok {
		return
	}
	body, ok := requestBody(w, req, receivePack)
	if !ok {
		return
	}
	asked, read, err := readCommands(body)
	if err != nil {
		http.Error(w, "this push cannot be read: "+err.Error(), http.StatusBadRequest)
		return
	}
	answerAs(w, receivePack+"-result")
	if reason := h.refusal(by, asked.changes); reason != "" {
		_, _ = io.CopyN(io.Discard, body, drainSize)
		refuse(w, asked, reason)
		return
	}
	cmd := r.command(req.Context(), "receive-pack", "--stateless-rpc", r.dir)
	speak(cmd, req)
	cmd.Stdin, cmd.Stdout = io.MultiReader(read, body), &stream{w: w}
	h.serve(w, req, cmd)
	// Refs may have moved even if git failed or the client went away.
	h.received(context.WithoutCancel(req.Context()), r, by, asked.changes)
}

// received brings pull requests up to date and tells which refs moved.
func (h *Host) received(ctx context.Context, r *repository, by promotion.Actor, asked []RefChange) {
	var moved []RefChange
	pushed := push{by: by}
	for _, c := range asked {
		now, err := r.at(ctx, c.Ref)
		if err != nil || now != c.New || c.Old == c.New {
			continue
		}
		moved = append(moved, c)
		if c.Ref == "refs/heads/"+MainBranch {
			pushed.oldMain = c.Old
		}
	}
	if moved == nil {
		return
	}
	if err := r.lookAfter(ctx, pushed); err != nil {
		h.Log.WarnContext(ctx, "pull requests not brought up to date after a push; the next look does it", "repository", r.name, "error", err)
	}
	h.Pushed(ctx, r.name, moved)
}

// at is the commit a ref is at, empty when there is none.
func (b bare) at(ctx context.Context, ref string) (string, error) {
	return b.run(ctx, "for-each-ref", "--format=%(objectname)", ref)
}

// refusal says why none of a push is taken; empty when it is.
func (h *Host) refusal(by promotion.Actor, changes []RefChange) string {
	for _, c := range changes {
		switch {
		case !strings.HasPrefix(c.Ref, "refs/heads/") && !strings.HasPrefix(c.Ref, "refs/tags/"):
			return fmt.Sprintf("%s is neither a branch nor a tag", c.Ref)
		case c.Ref != "refs/heads/"+MainBranch:
		case c.New == "":
			return "main cannot be deleted"
		case by.Kind == promotion.System:
			return "Sluice itself never pushes to main: it merges pull requests"
		case h.Protected:
			return "main is protected: push a branch and open a pull request"
		}
	}
	return ""
}

// commands is what a push asks for.
type commands struct {
	changes      []RefChange
	capabilities *capability.List
}

// readCommands reads a push up to its pack (gitprotocol-pack, "Reference
// Update Request") and returns the bytes it took too.
func readCommands(body io.Reader) (commands, *bytes.Buffer, error) {
	c := commands{capabilities: capability.NewList()}
	var read bytes.Buffer
	lines := pktline.NewScanner(io.TeeReader(io.LimitReader(body, commandSize), &read))
	for lines.Scan() {
		line := string(lines.Bytes())
		if line == "" {
			return c, &read, nil
		}
		if strings.HasPrefix(line, "shallow ") {
			continue
		}
		command, capabilities, first := strings.Cut(line, "\x00")
		if first {
			if err := c.capabilities.Decode([]byte(strings.TrimSpace(capabilities))); err != nil {
				return c, nil, err
			}
		}
		change, err := readCommand(strings.TrimSuffix(command, "\n"))
		if err != nil {
			return c, nil, err
		}
		c.changes = append(c.changes, change)
	}
	return c, nil, errors.Join(lines.Err(), errors.New("its list of refs does not end, or is longer than 1 MiB"))
}

func readCommand(line string) (RefChange, error) {
	parts := strings.SplitN(line, " ", 3)
	if len(parts) != 3 || !plumbing.IsHash(parts[0]) || !plumbing.IsHash(parts[1]) || parts[2] == "" {
		return RefChange{}, fmt.Errorf("%.100q is not a change of a ref", line)
	}
	none := strings.NewReplacer(zeroSHA, "")
	return RefChange{Ref: parts[2], Old: none.Replace(parts[0]), New: none.Replace(parts[1])}, nil
}

// refuse answers a push as git would if a hook had refused every ref.
func refuse(w io.Writer, asked commands, reason string) {
	report := packp.NewReportStatus()
	report.UnpackStatus = "ok"
	for _, c := range asked.changes {
		report.CommandStatuses = append(report.CommandStatuses,
			&packp.CommandStatus{ReferenceName: plumbing.ReferenceName(c.Ref), Status: reason})
	}
	var answer bytes.Buffer
	_ = report.Encode(&answer) // a buffer takes everything
	if !asked.capabilities.Supports(capability.Sideband64k) {
		_, _ = answer.WriteTo(w)
		return
	}
	out := sideband.NewMuxer(sideband.Sideband64k, w)
	_, _ = out.WriteChannel(sideband.ProgressMessage, []byte("Nothing was pushed: "+reason+"\n"))
	_, _ = out.Write(answer.Bytes())
	_, _ = io.WriteString(w, "0000")
}

func (h *Host) isServiceToken(password string) bool {
	given, want := sha256.Sum256([]byte(password)), sha256.Sum256([]byte(h.ServiceToken))
	return h.ServiceToken != "" && subtle.ConstantTimeCompare(given[:], want[:]) == 1
}
