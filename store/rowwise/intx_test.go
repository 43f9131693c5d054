package rowwise_test

import (
	"errors"
	"testing"

	"github.com/hourbell/hourbell/store/rowwise"
)

// TestInTx runs a function in transactions that are committed, rolled back, and begun again.
func TestInTx(t *testing.T) {
	failed := errors.New("failed")
	type transaction struct{ number int }
	answers := func(tx transaction) (int, error) { return tx.number, nil }
	for name, test := range map[string]struct {
		run  rowwise.Transaction[transaction]
		do   func(transaction) (int, error)
		want int
		err  error
	}{
		"committed":     {func(do func(transaction) error) error { return do(transaction{1}) }, answers, 1, nil},
		"commit fails":  {func(do func(transaction) error) error { return errors.Join(do(transaction{1}), failed) }, answers, 0, failed},
		"not begun":     {func(do func(transaction) error) error { return failed }, answers, 0, failed},
		"work fails":    {func(do func(transaction) error) error { return do(transaction{1}) }, func(transaction) (int, error) { return 1, failed }, 0, failed},
		"second commit": {func(do func(transaction) error) error { return errors.Join(do(transaction{1}), do(transaction{2})) }, answers, 2, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := rowwise.InTx(test.run, test.do); got != test.want || !errors.Is(err, test.err) {
				t.Errorf("%d, %v; want %d, %v", got, err, test.want, test.err)
			}
		})
	}
}
