package kinds

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// errPrivate is the error of a connection to an address that is not public. It
// does not contain the address, because the author of the job may not be allowed
// to know to which address of this network a name belongs.
var errPrivate = &refusedError{"its address is not public, and this job is not declared by the node's own files; " +
	"declare it there, or let all jobs reach private addresses (hourbell serve --http-private)"}

// publicOnly returns a copy of a transport that connects to public addresses
// only. It keeps no connection, so that each request is checked, and uses no
// proxy, because a proxy connects without this check.
func publicOnly(transport http.RoundTripper, resolver *net.Resolver) (*http.Transport, error) {
	original, ok := transport.(*http.Transport)
	if !ok {
		return nil, errors.New("the transport of the node's HTTP client cannot be limited to public addresses; use an *http.Transport, or set HTTPWorker.Private")
	}
	dialer := &net.Dialer{Timeout: 30 * time.Second, Resolver: resolver, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || !public(to.Addr()) {
			return errPrivate
		}
		return nil
	}}
	limited := original.Clone()
	limited.Proxy = nil
	limited.DialContext = dialer.DialContext
	limited.DialTLSContext = nil
	limited.Dial, limited.DialTLS = nil, nil //nolint:staticcheck // a copied transport may have them
	limited.DisableKeepAlives = true
	return limited, nil
}

// Ranges of addresses that are not public although they are global unicast
// addresses to package netip: see the IANA registries of special-purpose
// addresses.
var (
	specialIPv4 = prefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
		"192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3")
	// Public IPv6 addresses are the range 2000::/3, without the ranges that contain
	// addresses of IPv4 (Teredo, 6to4) and others for special purposes. Outside
	// are loopback, mapped and translated IPv4 (NAT64), unique local, link-local
	// and multicast addresses.
	publicIPv6  = netip.MustParsePrefix("2000::/3")
	specialIPv6 = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// public reports whether an address belongs to the public Internet.
func public(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	contains := func(p netip.Prefix) bool { return p.Contains(address) }
	if address.Is4() {
		return !slices.ContainsFunc(specialIPv4, contains)
	}
	return publicIPv6.Contains(address) && !slices.ContainsFunc(specialIPv6, contains)
}
