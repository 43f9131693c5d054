package dashboard

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/access"
)

// TestAPageThatCouldNotBeReadIsAskedForAgain checks that only pages, and no changes, are asked for again, and only if the store
// has not answered.
func TestAPageThatCouldNotBeReadIsAskedForAgain(t *testing.T) {
	p := &pages{}
	for _, c := range []struct {
		method string
		status int
		again  bool
	}{
		{http.MethodGet, http.StatusServiceUnavailable, true},
		{http.MethodPost, http.StatusServiceUnavailable, false},
		{http.MethodGet, http.StatusNotFound, false},
	} {
		w := httptest.NewRecorder()
		p.refuse(w, httptest.NewRequest(c.method, "/jobs", nil), &access.RefusedError{Status: c.status, Problem: "a problem"})
		if got := strings.Contains(w.Body.String(), "<body data-retry>"); w.Code != c.status || got != c.again {
			t.Errorf("%s with %d: %d, asked for again: %v", c.method, c.status, w.Code, got)
		}
	}
}

// TestNavigation checks that one menu leads to the page that is shown, and that viewers have no menu without links.
func TestNavigation(t *testing.T) {
	p := &pages{}
	for path, want := range map[string]string{"/": "", "/job": "Work", "/whatif": "Schedules", "/nodes": "Cluster"} {
		here := ""
		menus := p.navigation(httptest.NewRequest(http.MethodGet, path, nil))
		for _, menu := range menus {
			if menu.Here {
				here += menu.Text
			}
		}
		if here != want || len(menus) != 3 {
			t.Errorf("%s is in %q, not in %q; %d menus", path, here, want, len(menus))
		}
	}
}
