package postgres

import (
	"strings"
	"testing"

	"github.com/hourbell/hourbell/store"
)

// TestAClaimThatCannotBeCommittedReturnsNoJobs: a claim is one message without a
// BEGIN, so that its commit comes after the last row.
func TestAClaimThatCannotBeCommittedReturnsNoJobs(t *testing.T) {
	b := fresh(t)
	node := register(t, b)
	insertN(t, b, 3)
	execute(t, withSchema(`
		create function {schema}.refuse() returns trigger language plpgsql as $$ begin raise 'refused at the commit'; end $$;
		create constraint trigger refuse after insert on {schema}.lease deferrable initially deferred for each row execute function {schema}.refuse()`, b.schema))
	res, err := b.Claim(t.Context(), store.ClaimRequest{Part: true, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 10})
	if err == nil || !strings.Contains(err.Error(), "refused at the commit") || len(res.Jobs) != 0 {
		t.Fatalf("%d jobs, error %v", len(res.Jobs), err)
	}
	execute(t, withSchema("drop trigger refuse on {schema}.lease", b.schema))
	if got := len(claimN(t, b, node, 10)); got != 3 {
		t.Errorf("afterwards %d jobs were claimed", got)
	}
}

// TestAPlainClaimLooksForSuspects: a claim that passes no gates finds out whether there are suspects, so that an idle node makes no
// claim for suspects with each poll.
func TestAPlainClaimLooksForSuspects(t *testing.T) {
	b := fresh(t)
	node := register(t, b)
	insertN(t, b, 3)
	claim := func() store.ClaimResult {
		res, err := b.Claim(t.Context(), store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 2})
		must(t, err)
		return res
	}
	if res := claim(); !res.NoSuspects || len(res.Jobs) != 2 {
		t.Errorf("without suspects: %+v", res)
	}
	execute(t, withSchema("update {schema}.job set losses = 2 where not running", b.schema))
	if res := claim(); res.NoSuspects || len(res.Jobs) != 0 {
		t.Errorf("with a suspect: %+v", res)
	}
}
