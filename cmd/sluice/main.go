// Command sluice is the promotion server, its demo, and the tools that go with it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run()) }

// run is main with an exit status, so that tests can run it in their own process.
func run(options ...serverOption) int {
	quietLibraries()
	collectSeldom()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := newRootCommand(options...).ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if message := err.Error(); message != "" {
		fmt.Fprintln(realStderr, "sluice:", message)
	}
	var exit *exitError
	if errors.As(err, &exit) {
		return exit.Code
	}
	return 1
}

func newRootCommand(options ...serverOption) *cobra.Command {
	root := &cobra.Command{
		Use:           "sluice",
		Short:         "Promote the same digest through dev, staging and prod, and know what ran where",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetErr(realStderr)
	root.AddCommand(
		newServeCommand(options...), newDemoCommand(options...), newMigrateCommand(), newTokenCommand(),
		newBuildCommand(), newPromoteCommand(), newApproveCommand(), newStatusCommand(), newHistoryCommand(),
		newPlanCommand(), newEvidenceCommand(), newAttestCommand(), newFreezeCommand(), newWindowCommand(), newOwedCommand(), newHoldCommand(), newResumeCommand(), newSyncPauseCommand(),
		newRestoreCommand(), newOverrideCommand(), newViolationsCommand(), newNotificationsCommand(), newDriftCommand(),
		newOverlayCommand(), newLintCommand(), newPolicyCommand(), newAuditCommand(), newSetupCommand(), newDoctorCommand(), newWindowsCommand(), newMigrationsCommand(), newRollbackCommand(),
	)
	return root
}

// realStderr is where Sluice itself writes.
var realStderr = os.Stderr

// quietLibraries keeps warnings that libraries print by themselves (kustomize about deprecated fields) from
// mixing with what Sluice says.
func quietLibraries() {
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stderr = null
	}
	log.SetOutput(io.Discard)
}

// collectSeldom lets garbage grow to four times what is alive. Rendering makes much of it and keeps little (3,000 overlays
// leave 3 MB), and is a third faster so. Whoever sets GOGC decides.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
