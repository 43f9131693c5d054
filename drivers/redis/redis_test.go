package redis

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/locktest"
)

// serverVariable is the variable with the server for tests. Without it the
// tests that need a server are skipped, or fail if HOURBELL_TEST_REQUIRE=1.
// Each test uses its own environment and deletes its keys.
const serverVariable = "HOURBELL_TEST_REDIS_URL"

func TestMain(m *testing.M) {
	locktest.Contend(open)
	os.Exit(m.Run())
}

func open(ctx context.Context, target string) (lock.Provider, func(), error) {
	p, err := Open(ctx, target)
	if err != nil {
		return nil, nil, err
	}
	return p, func() { p.Close() }, nil
}

// serverURL returns the server's URL with a new environment, whose keys are
// deleted after the test.
func serverURL(t testing.TB) string {
	t.Helper()
	base := os.Getenv(serverVariable)
	switch {
	case base != "":
	case os.Getenv("HOURBELL_TEST_REQUIRE") == "1":
		t.Fatalf("%s is not set, and HOURBELL_TEST_REQUIRE=1 asks for this test", serverVariable)
	default:
		t.Skipf("%s is not set; this test needs that server", serverVariable)
	}
	separator := "?"
	if strings.Contains(base, "?") {
		separator = "&"
	}
	environment := fmt.Sprintf("test-%d-%d", os.Getpid(), time.Now().UnixNano())
	t.Cleanup(func() {
		ctx, client := context.Background(), connect(t)
		keys, err := client.Keys(ctx, "*:"+environment+":*").Result()
		must(t, err)
		if len(keys) > 0 {
			must(t, client.Del(ctx, keys...).Err())
		}
	})
	return base + separator + "environment=" + environment
}

// connect returns a separate client for the test.
func connect(t testing.TB) *goredis.Client {
	t.Helper()
	config, err := goredis.ParseURL(os.Getenv(serverVariable))
	must(t, err)
	client := goredis.NewClient(config)
	t.Cleanup(func() { client.Close() })
	return client
}

func fresh(t testing.TB) *Provider {
	t.Helper()
	p, err := Open(t.Context(), serverURL(t))
	must(t, err)
	t.Cleanup(func() { p.Close() })
	return p
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestSuite(t *testing.T) {
	url := serverURL(t)
	p, err := Open(t.Context(), url)
	must(t, err)
	client := connect(t)
	locktest.Run(t, locktest.Store{
		Target:     url,
		Open:       open,
		RowsExpire: true,
		DeleteRow: func(ctx context.Context, name string) (bool, error) {
			n, err := client.Del(ctx, p.keys(name)[0]).Result()
			return n == 1, err
		},
		Exhausted: exhausted,
	})
}

// exhausted returns a provider over a pool whose only connection is in use.
func exhausted(t testing.TB) lock.Provider {
	config, err := goredis.ParseURL(os.Getenv(serverVariable))
	must(t, err)
	config.PoolSize = 1
	client := goredis.NewClient(config)
	t.Cleanup(func() { client.Close() })
	conn := client.Conn()
	must(t, conn.Ping(t.Context()).Err())
	t.Cleanup(func() { conn.Close() })
	return New(GoRedis(client))
}
