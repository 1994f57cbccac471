package config

import (
	"fmt"
	"os"
	"strings"
)

// ApplicationDatabase is the database of an application in an environment. Its address holds a password, so the configuration says
// only where the address is.
type ApplicationDatabase struct {
	Application string `json:"application"`
	Environment string `json:"environment"`
	URLEnv      string `json:"url_env"`  // environment variable with the address, for a role that may only read
	URLFile     string `json:"url_file"` // or a file that holds it; both are read anew for each look
	Table       string `json:"table"`    // of the migration tool, with its schema if need be; empty: the tool's usual name
}

// URL reads the address. The error does not have it.
func (d ApplicationDatabase) URL() (string, error) {
	if d.URLEnv != "" {
		if url := strings.TrimSpace(os.Getenv(d.URLEnv)); url != "" {
			return url, nil
		}
		return "", fmt.Errorf("the environment variable %s is empty", d.URLEnv)
	}
	url, err := lineOf(d.URLFile)
	if err == nil && url == "" {
		err = fmt.Errorf("%s is empty", d.URLFile)
	}
	return url, err
}

func completeDatabases(all []ApplicationDatabase) error {
	seen := map[[2]string]bool{}
	for i, d := range all {
		key := [2]string{d.Application, d.Environment}
		switch {
		case d.Application == "" || d.Environment == "":
			return fmt.Errorf("application_databases[%d]: name the application and the environment that it is of", i)
		case seen[key]:
			return fmt.Errorf("application_databases[%d]: %s in %s is named twice", i, d.Application, d.Environment)
		case (d.URLEnv == "") == (d.URLFile == ""):
			return fmt.Errorf("application_databases[%d]: give either url_env or url_file, for a role that may only read", i)
		case strings.Contains(d.URLEnv, "://"):
			return fmt.Errorf("application_databases[%d].url_env: give the name of an environment variable, not the address itself", i)
		}
		seen[key] = true
	}
	return nil
}
