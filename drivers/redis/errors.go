package redis

import (
	"fmt"
	"strings"

	"github.com/hourbell/hourbell/lock"
)

// explain adds the operation to an error and, for known causes, the remedy. An
// error of the server begins with its code.
func explain(what string, err error) error {
	code, _, _ := strings.Cut(err.Error(), " ")
	switch code {
	case "NOAUTH", "WRONGPASS":
		return fmt.Errorf("%s: Redis refuses this user or password; check them in the URL: %w", what, err)
	case "NOPERM":
		return fmt.Errorf("%s: the Redis user may not do this; grant it the locks' keys and hourbell:* with +@scripting +@read +@write +time +scan: %w", what, err)
	case "READONLY":
		return fmt.Errorf("%s: the server is a read-only replica; name the primary: %w", what, err)
	case "OOM":
		return fmt.Errorf("%s: the memory of the Redis server is full; raise its maxmemory: %w", what, err)
	case "BUSY", "LOADING":
		return fmt.Errorf("%s: %w: %w", what, lock.ErrBusy, err)
	case "CROSSSLOT":
		return fmt.Errorf("%s: on a cluster a name cannot contain a } unless its first brace opens a {tag}; choose another: %w", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
