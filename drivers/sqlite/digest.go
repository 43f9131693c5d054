package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/hourbell/hourbell/store"
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
	kinds := exactKinds(req)
	if len(kinds) == 0 || req.Suspects { // suspects are few, and have an index of their own
		return 0, nil
	}
	began := time.Now()
	for range rounds {
		digests, more, err := b.digestsOf(ctx, doing, req, kinds)
		if err != nil || len(digests) == 0 {
			return 0, err
		}
		err = b.write(ctx, doing)(func(s *session) error {
			return s.Exec(ctx, updateDigests, args{"digests": sqlrows.JSONList(digests)})
		})
		if err != nil || !more {
			return 0, err
		}
	}
	return max(time.Since(began), time.Millisecond), nil
}

// errEnough ends a list before its end.
var errEnough = errors.New("enough has been read")

// digestsOf computes the digests of the first due jobs that have none, and reports
// whether there may be more such jobs. It needs no write lock, because the args of a
// job never change.
func (b *Backend) digestsOf(ctx context.Context, doing string, req store.ClaimRequest, kinds []string) (digests []digest, more bool, err error) {
	err = b.read(ctx, doing)(func(s *session) error {
		now, err := s.Now(ctx, req.Now)
		if err != nil {
			return err
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
			digests = append(digests, digest{id, hex.EncodeToString(sum[:])})
			if size += len(text); size >= digestBytes || len(digests) == digestRows {
				return errEnough
			}
			return nil
		})
		if more = errors.Is(err, errEnough); more {
			return nil
		}
		return err
	})
	return digests, more, err
}
