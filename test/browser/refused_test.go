package browser_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/test/browser"
)

// refusals are promote forms that cannot be done. The page comes again with everything that was
// chosen and typed, and says what is wrong beside the field that is to blame.
var refusals = []struct {
	name   string
	field  string // that is to blame; "" when none is
	sent   string // in it
	status int
	says   string
}{
	{"no environment", "#environment", "", http.StatusUnprocessableEntity, "which environment"},
	{"an unknown environment", "#environment", "moon", http.StatusUnprocessableEntity, "no environment moon"},
	{"no release", "#release", "", http.StatusUnprocessableEntity, "which release"},
	{"an unknown release", "#release", "987654", http.StatusUnprocessableEntity, "no release 987654"},
	{"what is there already", "", "", http.StatusConflict, "nothing to promote"},
}

func refused(t *testing.T, rita *browser.Person, r release) {
	t.Helper()
	for _, c := range refusals {
		const reason = "typed with care"
		rita.Go(fmt.Sprintf("/promote?application=%s&environment=prod&release=%d", r.Application, r.ID))
		rita.Fill("#reason", reason)
		if c.field != "" {
			// As from a form that was open for long, or from a browser that does not check it.
			rita.Edit(c.field, fmt.Sprintf(`() => { this.form.noValidate = true; this.options[0].value = %q; this.selectedIndex = 0 }`, c.sent))
		}
		rita.Click("#promote")
		if rita.Status() != c.status || !rita.Has("#promote") {
			t.Errorf("%s gave %d, want %d and the form again:\n%s", c.name, rita.Status(), c.status, rita.Text("main"))
			continue
		}
		said := rita.Text("main")
		if c.field != "" {
			said = rita.Beside(c.field)
		}
		if !strings.Contains(said, c.says) {
			t.Errorf("%s: beside %q it says %q, not %q", c.name, c.field, said, c.says)
		}
		for field, want := range map[string]string{"#application": r.Application, "#environment": "prod",
			"#release": fmt.Sprint(r.ID), "#reason": reason} {
			if got := rita.Value(field); field != c.field && got != want {
				t.Errorf("%s: %s holds %q, want %q", c.name, field, got, want)
			}
		}
	}
}
