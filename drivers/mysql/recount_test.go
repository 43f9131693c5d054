package mysql

import (
	"testing"

	"github.com/hourbell/hourbell/store/storetest"
)

func TestWrongCountsAreRepaired(t *testing.T) {
	b, db := fresh(t)
	storetest.WrongCounts(t, b, func() {
		for _, text := range []string{
			"UPDATE hourbell_lane SET used = CASE WHEN `key` = 'low' THEN 0 ELSE 3 END, starts = CASE WHEN `key` = 'low' THEN 2 ELSE 0 END",
			"INSERT INTO hourbell_node_permit (limit_id, node, permits, wants) SELECT id, -1, 1, 0 FROM hourbell_job_limit WHERE name = 'whole'",
		} {
			_, err := db.ExecContext(t.Context(), text)
			must(t, err)
		}
	})
}

func TestIdleLanesAreDeleted(t *testing.T) {
	b, db := fresh(t)
	storetest.IdleLanes(t, b, func() (n int) {
		must(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM hourbell_lane").Scan(&n))
		return n
	})
}
