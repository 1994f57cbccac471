package embedded

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	// record is the file in a data folder that says where its cluster is, if elsewhere.
	record = "location"
	// maxSocketPath is the shortest limit among the systems (macOS: 104 with the final zero).
	maxSocketPath = 103
	// socketName is what PostgreSQL calls the socket of its default port.
	socketName = ".s.PGSQL.5432"
	// sharedState and sharedCache are where root keeps what another user must reach.
	sharedState = "/var/lib/sluice"
	sharedCache = "/var/cache/sluice"
)

// place is the folder that a cluster lives in: the data folder, or its stand-in.
type place struct {
	data   string // the data folder asked for
	folder string
}

func (p place) cluster() string { return filepath.Join(p.folder, "cluster") }

// locate finds the place of a locked data folder, or makes one.
func locate(ctx context.Context, data string, as *account, log io.Writer) (place, error) {
	recorded, err := os.ReadFile(filepath.Join(data, record))
	if err == nil {
		at := place{data: data, folder: strings.TrimSpace(string(recorded))}
		if _, err := os.Stat(at.cluster()); err != nil {
			return place{}, fmt.Errorf("its data was placed at %s and is not there any more: "+
				"put it back, or remove %s to begin with an empty database: %w", at.folder, filepath.Join(data, record), err)
		}
		return at, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return place{}, err
	}
	if as.reaches(data) {
		return place{data: data, folder: data}, nil
	}
	return standIn(ctx, data, as, log)
}

// standIn makes a place that the account can reach for a data folder that it cannot.
// It is recorded once the cluster is whole, see initialise.
func standIn(ctx context.Context, data string, as *account, log io.Writer) (place, error) {
	base := os.TempDir() // what is below it is not meant to last
	if relative, err := filepath.Rel(base, data); err != nil || !filepath.IsLocal(relative) || !as.reaches(base) {
		base = sharedState
		if err := openFolder(base); err != nil {
			return place{}, err
		}
	}
	at := place{data: data, folder: filepath.Join(base, "sluice-postgres-"+key(data))}
	if _, err := os.Stat(at.folder); err == nil {
		// Its data folder was removed and made again, or its making was interrupted.
		if err := settle(ctx, at.cluster(), log); err != nil {
			return place{}, err
		}
		fmt.Fprintf(log, "removing %s: it belongs to an earlier %s\n", at.folder, data)
		if err := os.RemoveAll(at.folder); err != nil {
			return place{}, err
		}
	}
	if err := as.own(at.folder); err != nil {
		return place{}, err
	}
	fmt.Fprintf(log, "user %s, as whom PostgreSQL runs, cannot reach %s: the database is placed at %s\n",
		as.name, data, at.folder)
	return at, nil
}

// remember records a place other than the data folder itself.
func (p place) remember() error {
	if p.folder == p.data {
		return nil
	}
	return os.WriteFile(filepath.Join(p.data, record), []byte(p.folder+"\n"), 0o644)
}

// major is the PostgreSQL version of the cluster, 0 if there is none yet.
func (p place) major() (int, error) {
	content, err := os.ReadFile(filepath.Join(p.cluster(), "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(content)))
}

// sockets makes the folder of the server's socket: inside the place, or below the
// temporary folder where the path would be too long for a socket, or would be taken for
// a list of paths.
func (p place) sockets(as *account) (string, error) {
	folder := filepath.Join(p.folder, "run")
	if len(filepath.Join(folder, socketName)) > maxSocketPath || strings.ContainsAny(folder, `,"`) {
		folder = filepath.Join(os.TempDir(), "sluice-run-"+key(p.folder))
	}
	if len(filepath.Join(folder, socketName)) > maxSocketPath || !as.reaches(filepath.Dir(folder)) {
		return "", fmt.Errorf("no place for the server's socket: %s is too long a path or out of reach: "+
			"choose a shorter data folder", folder)
	}
	if err := as.own(folder); err != nil {
		return "", fmt.Errorf("making the folder of the server's socket: %w", err)
	}
	// We hold the data folder's lock, so what a killed server left here is stale,
	// even if another process has its number by now.
	for _, stale := range []string{socketName, socketName + ".lock"} {
		if err := os.Remove(filepath.Join(folder, stale)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("removing what a killed server left: %w", err)
		}
	}
	return folder, nil
}

// cacheFolder is where a fetched package goes: what was asked for, the user's
// cache, or one that the account can reach.
func cacheFolder(asked string, as *account, log io.Writer) (string, error) {
	cache := asked
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil && as == nil {
			return "", fmt.Errorf("no cache folder for PostgreSQL: %w", err)
		}
		cache = filepath.Join(user, "sluice")
	}
	cache, err := filepath.Abs(cache)
	if err != nil {
		return "", err
	}
	if as.reaches(cache) {
		return cache, nil
	}
	fmt.Fprintf(log, "user %s, as whom PostgreSQL runs, cannot reach %s: using %s\n", as.name, cache, sharedCache)
	return sharedCache, openFolder(sharedCache)
}

// openFolder makes a folder that everybody may enter, whatever the umask.
func openFolder(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.Chmod(folder, 0o755)
}

func key(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:6])
}
