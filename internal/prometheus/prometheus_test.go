package prometheus_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/prometheus"
)

var noon = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)

// series is one series with a value a minute from 11:00 on.
func series(name string, values ...string) string {
	samples := make([]string, 0, len(values))
	for i, v := range values {
		if v != "" {
			samples = append(samples, fmt.Sprintf(`[%d,"%s"]`, noon.Add(time.Duration(i-60)*time.Minute).Unix(), v))
		}
	}
	return fmt.Sprintf(`{"metric":{"job":"%s"},"values":[%s]}`, name, strings.Join(samples, ","))
}

func hour(change func([]string)) string {
	values := make([]string, 61)
	for i := range values {
		values[i] = "1"
	}
	change(values)
	return series("web", values...)
}

func matrix(series ...string) string {
	return `{"status":"success","data":{"resultType":"matrix","result":[` + strings.Join(series, ",") + `]}}`
}

func TestOver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status          int
		answer          string
		lowest, highest float64
		says            string // part of the error; empty: there is none
	}{
		"a whole series":     {200, matrix(hour(func(v []string) { v[3], v[60] = "-0.5", "7" })), -0.5, 7, ""},
		"infinity":           {200, matrix(hour(func(v []string) { v[3] = "+Inf" })), 0, 0, ""},
		"no series":          {200, matrix(), 0, 0, "has no value"},
		"two series":         {200, matrix(series("a", "1"), series("b", "1")), 0, 0, "has 2 series"},
		"not a number":       {200, matrix(hour(func(v []string) { v[30] = "NaN" })), 0, 0, "2026-03-02T11:30:00Z is not a number"},
		"a hole":             {200, matrix(hour(func(v []string) { v[30] = "" })), 0, 0, "no value at 2026-03-02T11:30:00Z"},
		"it begins too late": {200, matrix(hour(func(v []string) { v[0] = "" })), 0, 0, "no value at 2026-03-02T11:00:00Z"},
		"it ends too early":  {200, matrix(hour(func(v []string) { v[60], v[59] = "", "" })), 0, 0, "no value at 2026-03-02T11:59:00Z"},
		"another type":       {200, `{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}`, 0, 0, "scalar"},
		"a part is missing":  {200, strings.Replace(matrix(hour(func([]string) {})), `{"status"`, `{"warnings":["partial response"],"status"`, 1), 0, 0, "warns: partial response"},
		"a wrong query":      {400, `{"status":"error","errorType":"bad_data","error":"parse error at char 3"}`, 0, 0, "parse error"},
		"a server in need":   {503, strings.Repeat("<p>overloaded</p>", 100), 0, 0, "503"},
		"no JSON":            {200, "hello", 0, 0, "prometheus"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.FormValue("query") != "up" || r.FormValue("step") != "60" || r.Header.Get("Authorization") != "Bearer secret-7" {
					t.Errorf("asked for %v with %q", r.Form, r.Header.Get("Authorization"))
				}
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.answer))
			}))
			t.Cleanup(server.Close)
			s, err := prometheus.New(prometheus.Options{URL: server.URL, Token: func() (string, error) { return "secret-7", nil }})
			if err != nil {
				t.Fatal(err)
			}
			lowest, highest, err := s.Over(t.Context(), "up", noon.Add(-time.Hour), noon)
			switch {
			case test.says == "" && err != nil:
				t.Error(err)
			case test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says) || len(err.Error()) > 300 || strings.Contains(err.Error(), "secret-7")):
				t.Errorf("the error is %v, want one that says %q", err, test.says)
			case test.says == "" && name != "infinity" && (lowest != test.lowest || highest != test.highest):
				t.Errorf("between %v and %v, want %v and %v", lowest, highest, test.lowest, test.highest)
			case name == "infinity" && highest < 1e300:
				t.Errorf("highest is %v", highest)
			}
		})
	}
}

func TestATokenThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	s, err := prometheus.New(prometheus.Options{URL: "http://127.0.0.1:1", Token: func() (string, error) { return "", errors.New("no such file") }})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Over(t.Context(), "up", noon.Add(-time.Hour), noon); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("the error is %v", err)
	}
}
