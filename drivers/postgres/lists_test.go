package postgres

import (
	"bytes"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
)

// TestListsAreEncodedAsByPgx compares with what pgx does by itself.
func TestListsAreEncodedAsByPgx(t *testing.T) {
	fast, plain := pgtype.NewMap(), pgtype.NewMap()
	registerLists(fast)
	text := "it's \"quoted\", {braced}, \\ and ünï"
	for _, test := range []struct {
		oid   uint32
		value any
	}{
		{pgtype.Int8ArrayOID, []int64{1, -1, 1 << 40, 0}},
		{pgtype.Int8ArrayOID, []int64{}},
		{pgtype.Int8ArrayOID, []int64(nil)},
		{pgtype.Int8ArrayOID, []*int64{nil, new(int64)}},
		{pgtype.Int2ArrayOID, []int16{-3, 0, 32767}},
		{pgtype.Int2ArrayOID, []int16(nil)},
		{pgtype.TextArrayOID, []string{"", text, "NULL"}},
		{pgtype.TextArrayOID, []string{}},
		{pgtype.TextArrayOID, []string(nil)},
		{pgtype.TextArrayOID, []*string{nil, &text}},
	} {
		for _, format := range []int16{pgtype.BinaryFormatCode, pgtype.TextFormatCode} {
			before := []byte("what is in the buffer")
			want, err := plain.Encode(test.oid, format, test.value, bytes.Clone(before))
			if err != nil {
				t.Fatal(err)
			}
			got, err := fast.Encode(test.oid, format, test.value, bytes.Clone(before))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) || (got == nil) != (want == nil) {
				t.Errorf("%T of %v in format %d: %x, want %x", test.value, test.value, format, got, want)
			}
		}
	}
}

func BenchmarkEncodeList(b *testing.B) {
	ids := make([]int64, 1000)
	for i := range ids {
		ids[i] = int64(i) * 1000
	}
	for name, register := range map[string]func(*pgtype.Map){"ours": registerLists, "pgx": func(*pgtype.Map) {}} {
		b.Run(name, func(b *testing.B) {
			m := pgtype.NewMap()
			register(m)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Encode(pgtype.Int8ArrayOID, pgtype.BinaryFormatCode, ids, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
