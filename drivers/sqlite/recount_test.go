package sqlite

import (
	"testing"

	"github.com/hourbell/hourbell/store/storetest"
)

func TestWrongCountsAreRepaired(t *testing.T) {
	b := openFile(t, newFile(t), Synchronous("NORMAL"))
	storetest.WrongCounts(t, b, func() {
		for _, text := range []string{
			"UPDATE hourbell_lane SET used = iif(key = 'low', 0, 3), starts = iif(key = 'low', 2, 0)",
			"INSERT INTO hourbell_node_permit (limit_id, node, permits, wants) SELECT id, -1, 1, 0 FROM hourbell_job_limit WHERE name = 'whole'",
		} {
			if _, err := b.writer.ExecContext(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestIdleLanesAreDeleted(t *testing.T) {
	b := openFile(t, newFile(t), Synchronous("NORMAL"))
	storetest.IdleLanes(t, b, func() (n int) {
		if err := b.writer.QueryRowContext(t.Context(), "SELECT count(*) FROM hourbell_lane").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	})
}
