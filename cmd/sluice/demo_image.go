package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/internal/demo"
)

func newDemoImageCommand(data *string) *cobra.Command {
	return &cobra.Command{
		Use:   "image APPLICATION VERSION",
		Short: "Stand in for a CI's image build: push a new small image to the running demo's registry and print its reference",
		Long: "Stand in for a CI's image build: push a new small image to the running demo's registry and print repository@sha256:….\n" +
			"An image whose version contains \"crash\" ends right after it starts.",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := os.ReadFile(filepath.Join(*data, "registry-host"))
			if err != nil {
				return fmt.Errorf("no demo has run with --data %s yet: start one with sluice demo --data %s: %w", *data, *data, err)
			}
			address, err := os.ReadFile(filepath.Join(*data, "address"))
			if err != nil {
				return fmt.Errorf("find the running demo: %w", err)
			}
			digest, err := pushImage(cmd.Context(), strings.TrimSpace(string(address)), demo.Image{Name: args[0], Version: args[1]})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s/shop/%s@%s\n", strings.TrimSpace(string(name)), args[0], digest)
			return err
		},
	}
}
