package redis

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/hourbell/hourbell/lock"
)

// names are lock names of all kinds: with and without text that Redis takes for
// a hash tag, and names that look like keys of the other kind.
var names = []string{"send", "a{b}c", "{b}", "a{b}{c}", "a:b", "a{", "hourbell:{send}", "x}y{z}", "*?[x]\\", "é"}

// impossible are names that cannot be used on a cluster.
var impossible = []string{"a}", "{}", "{}{x}", "a}b{"}

func TestNamesAndKeys(t *testing.T) {
	p := New(nil, Environment("prod"))
	seen := map[string]string{}
	for _, name := range append(names, impossible...) {
		keys := p.keys(name)
		if want := "job-lock:prod:" + name; keys[0] != want {
			t.Errorf("the lock's key is %q, ShedLock's is %q", keys[0], want)
		}
		for _, key := range keys {
			if other, twice := seen[key]; twice {
				t.Errorf("%q and %q share the key %q", name, other, key)
			}
			seen[key] = name
			if got, ok := p.nameOf(key); !ok || got != name {
				t.Errorf("%q is a key of %q, not of %q", key, name, got)
			}
		}
	}
	for _, key := range []string{"job-lock:test:send", "hourbell:{job-lock:test:send}", "hourbell:x", "job-lock:prod:"} {
		if name, ok := p.nameOf(key); ok {
			t.Errorf("%q is not a key of this environment, but taken for one of %q", key, name)
		}
	}
}

// A real cluster of one node: it refuses a script whose keys are in two slots.
func TestCluster(t *testing.T) {
	client := startCluster(t)
	p := New(GoRedis(client))
	for i, name := range names {
		lease, err := p.TryLock(t.Context(), lock.Request{Name: name, Owner: "o", Hold: time.Minute})
		if err != nil {
			t.Errorf("lock %q: %v", name, err)
			continue
		}
		if i%2 == 0 {
			must(t, lease.Release(t.Context()))
		}
	}
	infos, err := p.Locks(t.Context(), lock.LocksRequest{Limit: 100})
	must(t, err)
	if len(infos) != len(names) {
		t.Errorf("%d locks are listed of %d", len(infos), len(names))
	}
	for _, name := range impossible {
		_, err = p.TryLock(t.Context(), lock.Request{Name: name, Owner: "o", Hold: time.Minute})
		if err == nil || !strings.Contains(err.Error(), "choose another") {
			t.Errorf("a name that a cluster cannot have must be refused with the reason: %v", err)
		}
	}
}

func startCluster(t *testing.T) *goredis.ClusterClient {
	t.Helper()
	serverURL(t) // without a server the program redis-server is not required
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not installed; this test starts one as a cluster")
	}
	port := freePort(t)
	cmd := exec.Command(program, "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir(), "--cluster-enabled", "yes")
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	address := "127.0.0.1:" + port
	awaitListening(t, address)
	node := goredis.NewClient(&goredis.Options{Addr: address})
	defer node.Close()
	must(t, node.ClusterAddSlotsRange(t.Context(), 0, 16383).Err())
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		info, err := node.ClusterInfo(t.Context()).Result()
		must(t, err)
		if strings.Contains(info, "cluster_state:ok") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the cluster does not come up: %s", info)
		}
	}
	client := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: []string{address}})
	t.Cleanup(func() { client.Close() })
	return client
}

// awaitListening waits until a server accepts connections.
func awaitListening(t *testing.T, address string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			must(t, conn.Close())
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server does not start: %v", err)
		}
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	for {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		port := listener.Addr().(*net.TCPAddr).Port
		must(t, listener.Close())
		if port <= 55_535 { // a node's second port is 10,000 higher
			return fmt.Sprint(port)
		}
	}
}

// A lock that ShedLock has written is respected, shown and listed.
func TestLockOfJava(t *testing.T) {
	p, client := fresh(t), connect(t)
	value := "ADDED:2026-11-21T15:19:07.123Z@shop-1:0b2f"
	must(t, client.SetNX(t.Context(), p.keys("send")[0], value, time.Minute).Err())
	_, err := p.TryLock(t.Context(), lock.Request{Name: "send", Owner: "o", Hold: time.Minute})
	held, ok := err.(*lock.HeldError)
	if !ok || held.Owner != "shop-1:0b2f" || held.Until.Sub(held.Now) > time.Minute || held.Until.Sub(held.Now) < 50*time.Second {
		t.Fatalf("Java's lock must be refused as held by it for up to a minute: %+v", err)
	}
	infos, err := p.Locks(t.Context(), lock.LocksRequest{Limit: 9})
	must(t, err)
	if len(infos) != 1 || infos[0].LockedAt != time.Date(2026, 11, 21, 15, 19, 7, 123e6, time.UTC) || !infos[0].Held() {
		t.Errorf("Java's lock must be listed as held since its grant: %+v", infos)
	}
	must(t, p.ForceRelease(t.Context(), lock.ForceReleaseRequest{Name: "send"}))
	if n := client.Exists(t.Context(), p.keys("send")[0]).Val(); n != 0 {
		t.Error("a release by force must free Java's lock")
	}
}

// The value that Java programs read is written, and the key expires.
func TestLockForJava(t *testing.T) {
	p, client := fresh(t), connect(t)
	key := p.keys("send")[0]
	lease, err := p.TryLock(t.Context(), lock.Request{Name: "send", Owner: "host/1/x", Hold: time.Minute, AtLeast: 30 * time.Second})
	must(t, err)
	if value := client.Get(t.Context(), key).Val(); !strings.HasPrefix(value, "ADDED:") || !strings.HasSuffix(value, "@host/1/x") {
		t.Errorf("the value is %q", value)
	}
	ends := func(what string, within time.Duration) {
		t.Helper()
		if ttl := client.PTTL(t.Context(), key).Val(); ttl > within || ttl < within-20*time.Second {
			t.Errorf("%s: the key ends in %v, not %v", what, ttl, within)
		}
	}
	ends("granted", time.Minute)
	must(t, lease.Extend(t.Context(), 2*time.Minute))
	ends("extended", 2*time.Minute)
	must(t, lease.Release(t.Context()))
	ends("released before its at-least time", 30*time.Second)
}

// A lock without an expiry, written by hand, counts as held.
func TestLockWithoutEnd(t *testing.T) {
	p, client := fresh(t), connect(t)
	must(t, client.Set(t.Context(), p.keys("send")[0], "mine", 0).Err())
	_, err := p.TryLock(t.Context(), lock.Request{Name: "send", Owner: "o", Hold: time.Minute})
	held, ok := err.(*lock.HeldError)
	if !ok || held.Owner != "mine" || held.Until.Before(held.Now) {
		t.Errorf("a lock without an end must be refused as held: %v", err)
	}
}

// Tokens grow even if Redis has lost the state of the name.
func TestTokenGrowsAfterLoss(t *testing.T) {
	p, client := fresh(t), connect(t)
	last := int64(0)
	for range 5 {
		lease, err := p.TryLock(t.Context(), lock.Request{Name: "send", Owner: "o", Hold: time.Minute})
		must(t, err)
		if lease.Token() <= last {
			t.Errorf("token %d came after token %d", lease.Token(), last)
		}
		last = lease.Token()
		must(t, client.Del(context.Background(), p.keys("send")...).Err())
	}
}
