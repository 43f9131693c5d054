package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

const (
	// digestRows and digestBytes bound how many jobs get their digests in one
	// transaction, and the size of their args.
	digestRows  = 1_000
	digestBytes = 16 << 20
)

// digest is the digest of a job's args, in the JSON of a parameter.
type digest struct {
	ID     int64  `json:"id"`
	Digest string `json:"digest"` // in hexadecimal
}

// digestDue gives digests to due jobs of the kinds for which a claim takes only exact
// jobs, because only jobs with digests can be found by their args.
// Each job gets its digest once, in the order of claims, and keeps it until it has
// ended. It makes at most rounds transactions. A wait that is not 0 is how long to
// wait before the next claim, because more such jobs are due.
func (b *Backend) digestDue(ctx context.Context, req store.ClaimRequest, rounds int) (wait time.Duration, err error) {
	const doing = "claim jobs"
	kinds := req.ExactKinds()
	if len(kinds) == 0 || req.Suspects { // suspects are few, and have an index of their own
		return 0, nil
	}
	began := time.Now()
	for range rounds {
		read, err := b.digestsOf(ctx, doing, req, kinds)
		if err != nil || len(read.digests) == 0 {
			return 0, err
		}
		err = b.Write(ctx, doing, nil)(func(s *session) error {
			return s.Exec(ctx, updateDigests, args{"digests": sqlrows.JSONList(read.digests)})
		})
		if err != nil || !read.more {
			return 0, err
		}
	}
	return max(time.Since(began), time.Millisecond), nil
}

// errEnough ends a list before its end.
var errEnough = errors.New("enough has been read")

// readDigests are digests of jobs.
type readDigests struct {
	digests []digest
	more    bool // there may be more due jobs without digests
}

// digestsOf computes the digests of the first due jobs that have none. It needs no write lock, because the args of a
// job never change.
func (b *Backend) digestsOf(ctx context.Context, doing string, req store.ClaimRequest, kinds []string) (readDigests, error) {
	return rowwise.InTx(b.read(ctx, doing), func(s *session) (read readDigests, err error) {
		now, err := s.Now(ctx, req.Now)
		if err != nil {
			return read, err
		}
		size := 0
		a := args{"queue": req.Queue, "kinds": sqlrows.JSONList(kinds), "now": sqlrows.Micros(now), "limit": digestRows}
		err = s.Each(ctx, findUndigested, a, func(r row) error {
			var id int64
			var text []byte
			if err := r.Scan(&id, &text); err != nil {
				return err
			}
			sum := sha256.Sum256(text)
			read.digests = append(read.digests, digest{id, hex.EncodeToString(sum[:])})
			if size += len(text); size >= digestBytes || len(read.digests) == digestRows {
				return errEnough
			}
			return nil
		})
		if read.more = errors.Is(err, errEnough); read.more {
			return read, nil
		}
		return read, err
	})
}
