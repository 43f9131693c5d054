package tail

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTailKeepsTheEnd(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		limit := 1 + random.IntN(50)
		output := New(limit)
		var all []byte
		var read int64
		for range random.IntN(30) {
			piece := make([]byte, random.IntN(3*limit))
			for i := range piece {
				piece[i] = byte(random.Uint32())
			}
			if n, err := output.Write(piece); n != len(piece) || err != nil {
				t.Fatalf("Write of %d bytes: %d, %v", len(piece), n, err)
			}
			all = append(all, piece...)
			if random.IntN(2) == 0 {
				fresh, skipped := output.Next()
				read += skipped
				if want := all[read:]; !slices.Equal(fresh, want) || skipped > 0 && len(fresh) != limit {
					t.Fatalf("limit %d: next is %x after %d skipped, want %x", limit, fresh, skipped, want)
				}
				read += int64(len(fresh))
			}
			if want := all[max(0, len(all)-limit):]; !slices.Equal(output.Bytes(), want) {
				t.Fatalf("limit %d: got %x, want %x", limit, output.Bytes(), want)
			}
			if len(output.kept) > 2*limit {
				t.Fatalf("holds %d bytes, more than twice %d", len(output.kept), limit)
			}
		}
	}
}
