package embedded

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the user that the server runs as when it cannot be our own. A nil
// account is our own user.
type account struct {
	name     string
	uid, gid uint32
}

// serverAccount is nil unless we are root, as whom PostgreSQL refuses to run.
func serverAccount() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(found.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, fmt.Errorf("user %s: %w", name, err)
		}
		return &account{name: name, uid: uint32(uid), gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it as")
}

// reaches tells whether the account may enter a folder, going by the permissions of
// the folder and of all above it. What does not exist yet is judged by what does.
func (a *account) reaches(folder string) bool {
	if a == nil {
		return true
	}
	if resolved, err := filepath.EvalSymlinks(folder); err == nil {
		folder = resolved
	}
	for ; ; folder = filepath.Dir(folder) {
		if info, err := os.Stat(folder); err == nil && !a.mayEnter(info) {
			return false
		}
		if folder == filepath.Dir(folder) {
			return true
		}
	}
}

func (a *account) mayEnter(info os.FileInfo) bool {
	mode, owner := info.Mode(), info.Sys().(*syscall.Stat_t)
	switch {
	case owner.Uid == a.uid:
		return mode&0o100 != 0
	case owner.Gid == a.gid:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}

// own makes a folder that only the account may enter. One that exists must be the
// account's already: in a folder that others may write, it could be a trap.
func (a *account) own(folder string) error {
	uid := uint32(os.Geteuid())
	if a != nil {
		uid = a.uid
	}
	err := os.Mkdir(folder, 0o700)
	if err == nil && a != nil {
		return os.Lchown(folder, int(a.uid), int(a.gid))
	}
	if err == nil || !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Sys().(*syscall.Stat_t).Uid != uid {
		return fmt.Errorf("%s is not a folder of the server's user (%d): remove it", folder, uid)
	}
	return os.Chmod(folder, 0o700)
}
