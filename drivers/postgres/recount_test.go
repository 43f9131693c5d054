package postgres

import (
	"testing"

	"github.com/hourbell/hourbell/store/storetest"
)

func TestWrongCountsAreRepaired(t *testing.T) {
	b := fresh(t)
	storetest.WrongCounts(t, b, func() {
		execute(t, withSchema(`
			update {schema}.lane set used = case key when 'low' then 0 else 3 end, starts = case key when 'low' then 2 else 0 end;
			insert into {schema}.node_permit (limit_id, node, permits, wants) select id, -1, 1, 0 from {schema}.job_limit where name = 'whole'`, b.schema))
	})
}

func TestIdleLanesAreDeleted(t *testing.T) {
	b := fresh(t)
	storetest.IdleLanes(t, b, func() int { return count(t, b, "select count(*) from {schema}.lane") })
}
