package realgitea

import "syscall"

// attributes has the kernel end the program when the test process dies.
func attributes(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM, Credential: as}
}
