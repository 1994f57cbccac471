//go:build unix && !linux

package embedded

import (
	"os/exec"
	"strconv"
	"syscall"
)

func attributes(as *account) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if as != nil {
		attr.Credential = &syscall.Credential{Uid: as.uid, Gid: as.gid}
	}
	return attr
}

// commandLine is a process' command line; an error if there is no such process.
func commandLine(pid int) (string, error) {
	out, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	return string(out), err
}
