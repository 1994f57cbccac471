package realkube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Compact has etcd forget everything but the newest state, so that no watch can go on from an earlier version.
func (c *ControlPlane) Compact(ctx context.Context) error {
	var now struct{ Header struct{ Revision string } }
	if err := c.askEtcd(ctx, "range", `{"key":"AA=="}`, &now); err != nil {
		return err
	}
	return c.askEtcd(ctx, "compaction", `{"revision":"`+now.Header.Revision+`","physical":true}`, &struct{}{})
}

func (c *ControlPlane) askEtcd(ctx context.Context, what, question string, answer any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.etcd+"/v3/kv/"+what, strings.NewReader(question))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it is read to its end
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd answers %s to %s", response.Status, what)
	}
	return json.NewDecoder(response.Body).Decode(answer)
}
