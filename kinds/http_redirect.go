package kinds

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxRedirects is the greatest value of HTTP.Redirects.
const maxRedirects = 10

// checkRedirect decides whether a redirect is followed, and removes what the
// next request must not have. The request has the headers of the first one.
func (h HTTP) checkRedirect(req *http.Request, via []*http.Request) error {
	first, before := via[0], via[len(via)-1]
	switch {
	case h.Redirects == 0:
		return http.ErrUseLastResponse
	case len(via) > h.Redirects:
		return &refusedError{fmt.Sprintf("there are more redirects than %d, which the job allows", h.Redirects)}
	case before.URL.Scheme == "https" && req.URL.Scheme != "https":
		return &refusedError{"a redirect leads from https to http"}
	}
	req.Header.Del("Referer") // it has the parameters of the URL before
	left := func(r *http.Request) bool { return origin(r.URL) != origin(first.URL) }
	if !left(req) && !slices.ContainsFunc(via, left) {
		return nil
	}
	if req.ContentLength != 0 {
		return &refusedError{"a redirect leads the body of the request to another host"}
	}
	clear(req.Header)
	req.Header.Set("User-Agent", userAgent)
	req.Host = ""
	return nil
}

// elsewhere is the transport of a declared job that follows redirects: the
// server that it calls, which the node's files name, must not lead it to other
// servers of the node's network.
type elsewhere struct {
	origin string
	there  http.RoundTripper // for requests to origin
	public http.RoundTripper // for all others
}

// RoundTrip makes one request.
func (e elsewhere) RoundTrip(req *http.Request) (*http.Response, error) {
	if origin(req.URL) == e.origin {
		return e.there.RoundTrip(req)
	}
	return e.public.RoundTrip(req)
}

// origin returns the scheme, host and port of a URL.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}
