package redis

import (
	"context"
	"crypto/sha1" //nolint:gosec // it is the name by which Redis knows a script
	_ "embed"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// script is a script that runs on the server.
type script struct{ text, sha string }

func newScript(text string) script {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // as above
	return script{text, hex.EncodeToString(sum[:])}
}

//go:embed lua/common.lua
var common string

//go:embed lua/take.lua
var takeText string

//go:embed lua/extend.lua
var extendText string

//go:embed lua/release.lua
var releaseText string

//go:embed lua/force.lua
var forceText string

//go:embed lua/read.lua
var readText string

//go:embed lua/scan.lua
var scanText string

var (
	takeScript    = newScript(common + takeText)
	extendScript  = newScript(common + extendText)
	releaseScript = newScript(common + releaseText)
	forceScript   = newScript(common + forceText)
	readScript    = newScript(common + readText)
	scanScript    = newScript(scanText)
)

// evaluate runs a script by its SHA-1, or by its text on a server that has not
// cached it. It returns when ctx ends, even if the client does not observe ctx.
func evaluate(ctx context.Context, client Client, s script, keys []string, args ...any) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	type result struct {
		reply any
		err   error
	}
	done := make(chan result, 1)
	go func() {
		reply, err := client.EvalSha(ctx, s.sha, keys, args...)
		if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
			reply, err = client.Eval(ctx, s.text, keys, args...)
		}
		done <- result{reply, err}
	}()
	select {
	case r := <-done:
		return r.reply, r.err
	case <-ctx.Done():
	}
	select { // prefer the client's own error, which names what it waited for, if it comes at once
	case r := <-done:
		return r.reply, r.err
	case <-time.After(grace):
		return nil, ctx.Err()
	}
}

// grace is how long a client has to return after ctx has ended.
const grace = 20 * time.Millisecond

// clock returns the first argument of a script: empty for the server's clock.
func clock(now func() time.Time) string {
	if now == nil {
		return ""
	}
	return milliseconds(now())
}

// milliseconds returns an instant as scripts take it.
func milliseconds(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }
