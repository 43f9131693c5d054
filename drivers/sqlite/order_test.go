package sqlite

import (
	"testing"

	"github.com/hourbell/hourbell/internal/clienttest"
)

func TestFailingJobsDoNotHoldUpFreshJobs(t *testing.T) { clienttest.Order(t, openFile(t, newFile(t))) }

func TestPrioritiesAge(t *testing.T) { clienttest.Ageing(t, openTwo) }

func TestClaimsOfUnknownEndAreSettled(t *testing.T) {
	clienttest.LostClaims(t, openFile(t, newFile(t)))
}
