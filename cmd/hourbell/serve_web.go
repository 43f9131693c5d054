package main

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/node"
)

// webFlags are the flags of serve about the pages and the API, and who may use them.
type webFlags struct {
	listen     string
	auth       string
	cert, key  string
	trust      []string
	userHeader string
	callbacks  string
}

func (f *webFlags) addTo(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.listen, "listen", "", "serve pages at / and the API below /api/v1 on this address: without --auth "+
		"and --user-header a loopback address, such as 127.0.0.1:8080")
	flags.StringVar(&f.auth, "auth", "", "the file of the users and tokens who may use the pages and the API; `hourbell auth` writes it")
	flags.StringVar(&f.cert, "tls-cert", "", "the file of the certificate (PEM), with the certificates of its issuers")
	flags.StringVar(&f.key, "tls-key", "", "the file of the key of --tls-cert (PEM)")
	flags.StringSliceVar(&f.trust, "trust-proxy", nil, "addresses of proxies, such as 10.0.0.0/8, whose X-Forwarded-For "+
		"and X-Forwarded-Proto are believed; may be repeated")
	flags.StringVar(&f.callbacks, "callback-keys", "", "answer callback URLs at /callbacks/ of --listen, without a log-in, for jobs of programs that have "+
		"the same key: the file of the keys, each in a line; the first one signs")
	flags.StringVar(&f.userHeader, "user-header", "", "the header in which a trusted proxy names the user, such as X-Remote-User")
}

// read checks the flags, and reads the files that they name.
func (f *webFlags) read(c *cobra.Command, log *slog.Logger) (node.Web, error) {
	given := c.Flags().Changed
	w := node.Web{Address: f.listen}
	if !given("listen") {
		return w, f.needListen(c)
	}
	trust, trustErr := f.prefixes(c)
	secure, tlsErr := f.secure(c)
	err := errors.Join(checkAddress("listen", f.listen), notEmpty(c, "auth"), trustErr, tlsErr)
	if err != nil {
		return w, err
	}
	w.TLS = secure
	if !given("auth") && len(trust) == 0 {
		return w, checkLoopback(f.listen)
	}
	w.Guard, err = access.NewGuard(access.Config{
		File: f.auth, Trust: trust, UserHeader: f.userHeader,
		Report: func(err error) { log.Warn("access to the pages and the API", "error", err) },
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = &check.FieldError{Field: "auth", Value: check.Shorten(f.auth), Problem: "does not exist", Remedy: "make it with `hourbell auth add`"}
	}
	return w, err
}

// needListen refuses flags that have no effect without --listen.
func (f *webFlags) needListen(c *cobra.Command) error {
	for _, name := range []string{"auth", "tls-cert", "tls-key", "trust-proxy", "user-header", "callback-keys"} {
		if c.Flags().Changed(name) {
			return &check.FieldError{Field: name, Problem: "is given without --listen", Remedy: "give --listen with the address of the API, or leave it out"}
		}
	}
	return nil
}

// callbackKeys reads --callback-keys; nil: callbacks are not answered.
func (f *webFlags) callbackKeys(c *cobra.Command) (keys [][]byte, err error) {
	if !c.Flags().Changed("callback-keys") {
		return nil, nil
	}
	text, err := os.ReadFile(f.callbacks)
	if err != nil {
		return nil, &check.FieldError{
			Field: "callback-keys", Value: check.Shorten(f.callbacks), Problem: "cannot be read: " + withoutPath(err).Error(),
			Remedy: "name a file with a key in each line, such as `openssl rand -hex 32` makes",
		}
	}
	for line := range bytes.Lines(text) {
		if key := bytes.TrimSpace(line); len(key) > 0 {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, &check.FieldError{
			Field: "callback-keys", Value: check.Shorten(f.callbacks), Problem: "has no key", Remedy: "write a key: openssl rand -hex 32 > " + f.callbacks,
		}
	}
	return keys, hourbell.Callbacks{Keys: keys}.Validate()
}

// prefixes reads --trust-proxy, which needs users from --auth or --user-header, and --user-header, which needs --trust-proxy.
func (f *webFlags) prefixes(c *cobra.Command) ([]netip.Prefix, error) {
	switch given := c.Flags().Changed; {
	case given("trust-proxy") && !given("user-header") && !given("auth"):
		return nil, &check.FieldError{
			Field: "user-header", Problem: "is missing, and so are users",
			Remedy: "name the header in which the proxy sends the user, or give --auth with a file of users",
		}
	case !given("trust-proxy") && given("user-header"):
		return nil, &check.FieldError{Field: "trust-proxy", Problem: "is missing", Remedy: "give the addresses of the proxies that set --user-header"}
	case given("user-header") && !validHeader(f.userHeader):
		return nil, &check.FieldError{
			Field: "user-header", Value: check.Shorten(f.userHeader),
			Problem: "is not the name of a header", Remedy: "use a name such as X-Remote-User",
		}
	}
	var all []netip.Prefix
	for _, text := range f.trust {
		prefix, err := parsePrefix(text)
		if err != nil {
			return nil, &check.FieldError{
				Field: "trust-proxy", Value: check.Shorten(text),
				Problem: "is neither an address nor a range of addresses", Remedy: "write an address, or a range such as 10.0.0.0/8",
			}
		}
		all = append(all, prefix)
	}
	return all, nil
}

// parsePrefix reads a range of addresses, or an address as a range of its own.
func parsePrefix(text string) (netip.Prefix, error) {
	if prefix, err := netip.ParsePrefix(text); err == nil {
		return prefix.Masked(), nil
	}
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	return addr.Prefix(addr.BitLen())
}

// validHeader reports whether text can be the name of the header with the user. The
// headers of access rules themselves are not taken.
func validHeader(text string) bool {
	taken := []string{"Authorization", "Cookie", "Host", "Origin"}
	return text != "" && !strings.ContainsFunc(text, notOfHeader) && !slices.Contains(taken, http.CanonicalHeaderKey(text))
}

// notOfHeader reports whether a character cannot be in the name of a header: it is no letter, no digit and no hyphen.
func notOfHeader(r rune) bool {
	letter, digit := 'a' <= r|0x20 && r|0x20 <= 'z', '0' <= r && r <= '9'
	return r != '-' && !letter && !digit
}

// secure reads the certificate; nil: the API is served without TLS.
func (f *webFlags) secure(c *cobra.Command) (*tls.Config, error) {
	switch given := c.Flags().Changed; {
	case !given("tls-cert") && !given("tls-key"):
		return nil, nil
	case !given("tls-key"):
		return nil, &check.FieldError{Field: "tls-key", Problem: "is missing", Remedy: "give the key of --tls-cert"}
	case !given("tls-cert"):
		return nil, &check.FieldError{Field: "tls-cert", Problem: "is missing", Remedy: "give the certificate of --tls-key"}
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, &check.FieldError{
			Field: "tls-cert", Value: check.Shorten(f.cert),
			Problem: "cannot be used: " + err.Error(), Remedy: "give the certificate and its key as PEM files",
		}
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}, nil
}

// checkLoopback refuses an address that other computers can reach.
func checkLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err == nil && access.LoopbackHost(host) {
		return nil
	}
	return &check.FieldError{
		Field: "listen", Value: check.Shorten(addr), Problem: "can be reached by other computers, and there are no users",
		Remedy: "use a loopback address such as 127.0.0.1:8080, or give --auth with a file of users; probes for monitors are --probes",
	}
}

// checkAddress checks an address as far as possible without binding it.
func checkAddress(field, addr string) error {
	host, port, err := net.SplitHostPort(addr)
	_, portErr := strconv.ParseUint(port, 10, 16)
	if err != nil || portErr != nil || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' }) {
		return &check.FieldError{
			Field: field, Value: check.Shorten(addr), Problem: "is not an address",
			Remedy: fmt.Sprintf("write host:port, such as 127.0.0.1:8080, or :port for all addresses; `hourbell serve --help` "+
				"explains --%s", field),
		}
	}
	return nil
}
