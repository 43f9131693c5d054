package access

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Local returns an Authorize for a server that listens on a loopback address only
// and has no users: each caller is an operator. It refuses requests whose Host is
// not a loopback name, because a page of another site whose name was made to lead
// to this computer would send them (DNS rebinding), and requests that a proxy has
// forwarded.
func Local() Authorize {
	return func(r *http.Request) (Identity, error) {
		switch {
		case !LoopbackHost(r.Host):
			return Identity{}, &RefusedError{
				Status:  http.StatusForbidden,
				Problem: "the request is not addressed to a loopback name",
				Remedy:  "use http://localhost, or give the server users with --auth",
			}
		case !remote(r).IsLoopback():
			return Identity{}, &RefusedError{
				Status: http.StatusForbidden, Problem: "the request comes from another computer",
				Remedy: "give the server users with --auth",
			}
		case forwarded(r):
			return Identity{}, &RefusedError{
				Status: http.StatusForbidden, Problem: "a proxy has forwarded the request",
				Remedy: "give the server users with --auth, and the address of the proxy with --trust-proxy",
			}
		}
		return Identity{Role: Operator, Source: SourceLocal}, nil
	}
}

// LoopbackHost reports whether host, with or without a port, is localhost, a name
// below localhost, or a loopback address.
func LoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().IsLoopback()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// remote returns the address that sent the request; it is not valid if the server
// does not listen on TCP.
func remote(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

// senderOf returns the address that sent the request, without its port.
func senderOf(r *http.Request) string {
	if from := remote(r); from.IsValid() {
		return from.String()
	}
	return r.RemoteAddr
}

// forwarded reports whether the request has a header of a proxy. Not every proxy
// sets such a header.
func forwarded(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(name) != "" {
			return true
		}
	}
	return false
}
