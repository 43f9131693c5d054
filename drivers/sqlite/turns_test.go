package sqlite

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// TestAFirstWriterWaitsForTwoWriters: a writer that goes first overtakes all ordinary writers except the next writer.
func TestAFirstWriterWaitsForTwoWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns()
		var order []string
		if err := turns.await(t.Context()); err != nil {
			t.Fatal(err)
		}
		write := func(name string, await func(context.Context) error) {
			go func() {
				if err := await(t.Context()); err != nil {
					t.Error(err)
				}
				order = append(order, name)
				turns.end()
			}()
			synctest.Wait()
		}
		for _, name := range []string{"next", "third", "fourth"} {
			write(name, turns.await)
		}
		write("first", turns.awaitFirst)
		ended, end := context.WithCancel(t.Context())
		end()
		if err := turns.await(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("a writer whose context has ended: %v", err)
		}
		turns.end()
		synctest.Wait()
		want := []string{"next", "first", "third", "fourth"}
		for i, name := range want {
			if i >= len(order) || order[i] != name {
				t.Fatalf("the writers wrote in the order %v, want %v", order, want)
			}
		}
	})
}
