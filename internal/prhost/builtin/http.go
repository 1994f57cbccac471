package builtin

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/sluicehq/sluice/internal/promotion"
)

const (
	uploadPack  = "git-upload-pack"
	receivePack = "git-receive-pack"
)

// protocolHeader is what a Git-Protocol header may say (gitprotocol-http).
var protocolHeader = regexp.MustCompile(`^[a-z0-9=.:-]{1,100}$`)

// Handler serves /<name>.git/… of Git's smart HTTP protocol. Everybody may
// read; pushing needs a user with the role release-manager or admin, or the
// service token. Mount it below /git of BaseURL with that prefix stripped.
func (h *Host) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{repository}/info/refs", h.infoRefs)
	mux.HandleFunc("POST /{repository}/"+uploadPack, h.upload)
	mux.HandleFunc("POST /{repository}/"+receivePack, h.receive)
	return mux
}

// infoRefs advertises the refs: the first half of a fetch or a push.
func (h *Host) infoRefs(w http.ResponseWriter, req *http.Request) {
	r, ok := h.requested(w, req)
	if !ok {
		return
	}
	service := req.URL.Query().Get("service")
	switch service {
	case uploadPack:
	case receivePack:
		if _, ok := h.pusher(w, req); !ok {
			return
		}
	default:
		http.Error(w, "this server speaks only the smart HTTP protocol: use git 1.6.6 or newer", http.StatusForbidden)
		return
	}
	cmd := r.command(req.Context(), strings.TrimPrefix(service, "git-"), "--stateless-rpc", "--advertise-refs", r.dir)
	if version2 := speak(cmd, req); !version2 {
		header := "# service=" + service + "\n"
		cmd.Stdout = &stream{w: w, prefix: fmt.Sprintf("%04x%s0000", len(header)+4, header)}
	} else {
		cmd.Stdout = &stream{w: w}
	}
	answerAs(w, service+"-advertisement")
	h.serve(w, req, cmd)
}

// upload answers a clone or a fetch.
func (h *Host) upload(w http.ResponseWriter, req *http.Request) {
	r, ok := h.requested(w, req)
	if !ok {
		return
	}
	body, ok := requestBody(w, req, uploadPack)
	if !ok {
		return
	}
	cmd := r.command(req.Context(), "upload-pack", "--stateless-rpc", r.dir)
	speak(cmd, req)
	cmd.Stdin, cmd.Stdout = body, &stream{w: w}
	answerAs(w, uploadPack+"-result")
	h.serve(w, req, cmd)
}

// serve runs git with its output as the answer, and tells whether it ended well.
func (h *Host) serve(w http.ResponseWriter, req *http.Request, cmd *exec.Cmd) bool {
	var stderr tail
	cmd.Stderr = &stderr
	// git answers while it still reads. A server that cannot do both says so
	// and buffers by itself.
	_ = http.NewResponseController(w).EnableFullDuplex()
	err := run(cmd)
	if err == nil {
		return true
	}
	if req.Context().Err() == nil {
		h.Log.WarnContext(req.Context(), "git over HTTP failed", "path", req.URL.Path, "error", err, "output", stderr.String())
	}
	if out := cmd.Stdout.(*stream); !out.begun {
		status, text := http.StatusInternalServerError, "git failed on the server, which has logged why"
		if errors.Is(err, errNoGit) {
			status, text = http.StatusServiceUnavailable, err.Error()
		}
		http.Error(w, text, status)
	}
	return false
}

// requested is the repository a request names, if it is there.
func (h *Host) requested(w http.ResponseWriter, req *http.Request) (*repository, bool) {
	name, ok := strings.CutSuffix(req.PathValue("repository"), ".git")
	if ok && repositoryName.MatchString(name) {
		r := h.repository(name)
		if info, err := os.Stat(r.dir); err == nil && info.IsDir() {
			return r, true
		}
	}
	http.Error(w, "there is no such repository", http.StatusNotFound)
	return nil, false
}

// requestBody is the request's body, unpacked; a wrong content type is refused.
func requestBody(w http.ResponseWriter, req *http.Request, service string) (io.Reader, bool) {
	if want := "application/x-" + service + "-request"; req.Header.Get("Content-Type") != want {
		http.Error(w, "the content type must be "+want, http.StatusUnsupportedMediaType)
		return nil, false
	}
	switch req.Header.Get("Content-Encoding") {
	case "", "identity":
		return req.Body, true
	case "gzip", "x-gzip":
		unpacked, err := gzip.NewReader(req.Body)
		if err == nil {
			return unpacked, true
		}
	}
	http.Error(w, "the body must be plain or packed with gzip", http.StatusBadRequest)
	return nil, false
}

// speak passes the protocol version on that the client asks for, and tells
// whether it is version 2.
func speak(cmd *exec.Cmd, req *http.Request) (version2 bool) {
	asked := req.Header.Get("Git-Protocol")
	if !protocolHeader.MatchString(asked) {
		return false
	}
	cmd.Env = append(cmd.Env, "GIT_PROTOCOL="+asked)
	for _, key := range strings.Split(asked, ":") {
		if key == "version=2" {
			return true
		}
	}
	return false
}

func answerAs(w http.ResponseWriter, what string) {
	w.Header().Set("Content-Type", "application/x-"+what)
	w.Header().Set("Cache-Control", "no-cache, max-age=0, must-revalidate")
	w.Header().Set("X-Content-Type-Options", "nosniff")
}

// pusher is who pushes, if that is somebody who may.
func (h *Host) pusher(w http.ResponseWriter, req *http.Request) (promotion.Actor, bool) {
	actor, err := h.authenticate(req)
	var known *promotion.Error
	switch {
	case err == nil && (actor.Kind == promotion.System || actor.Has(promotion.RoleReleaseManager, promotion.RoleAdmin)):
		return actor, true
	case err == nil:
		http.Error(w, actor.Name+" may not push: that needs the role release-manager or admin; ask an admin for it", http.StatusForbidden)
	case errors.As(err, &known) && known.Kind == promotion.Unauthenticated:
		w.Header().Set("WWW-Authenticate", `Basic realm="Sluice", charset="UTF-8"`)
		http.Error(w, known.Message, http.StatusUnauthorized)
	case errors.As(err, &known):
		http.Error(w, known.Message, http.StatusForbidden)
	default:
		h.Log.ErrorContext(req.Context(), "could not check who pushes", "path", req.URL.Path, "error", err)
		http.Error(w, "your user name and password could not be checked; try again", http.StatusServiceUnavailable)
	}
	return promotion.Actor{}, false
}

func (h *Host) authenticate(req *http.Request) (promotion.Actor, error) {
	username, password, ok := req.BasicAuth()
	if !ok || password == "" {
		return promotion.Actor{}, &promotion.Error{Kind: promotion.Unauthenticated, Code: "unauthenticated",
			Message: "to push, give an API token as the password"}
	}
	if username == promotion.Sluice().Name && h.isServiceToken(password) {
		return promotion.Sluice(), nil
	}
	return h.Authenticate(req.Context(), username, password)
}

// stream writes git's output through to the client as it comes.
type stream struct {
	w      http.ResponseWriter
	prefix string
	begun  bool
}

func (s *stream) Write(p []byte) (int, error) {
	if !s.begun {
		s.begun = true
		if _, err := io.WriteString(s.w, s.prefix); err != nil {
			return 0, err
		}
	}
	n, err := s.w.Write(p)
	if err == nil {
		err = http.NewResponseController(s.w).Flush()
	}
	if errors.Is(err, http.ErrNotSupported) {
		err = nil
	}
	return n, err
}

// tail keeps the first kilobyte of what git complains about.
type tail struct{ strings.Builder }

func (t *tail) Write(p []byte) (int, error) {
	if room := 1024 - t.Len(); room > 0 {
		t.Builder.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
