package sqlite

import (
	"bytes"
	"context"

	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// InsertRows implements sqlrows.Runner. The rows are one parameter, a list of objects in JSON. The bytes of all rows are another, and the
// objects have where their parts are.
func (s *session) InsertRows(ctx context.Context, name statement, rows []args) error {
	if len(rows) == 0 {
		return nil
	}
	var pack sqlrows.Packer
	packs := false
	text := []byte("[")
	for _, one := range rows {
		text = append(text, '{')
		for column, value := range one {
			if part, is := value.([]byte); is {
				at, length := pack.Add(part)
				text = appendValue(text, column+"_at", int64(at))
				text = appendValue(text, column+"_len", int64(length))
				packs = true
			} else {
				text = appendValue(text, column, value)
			}
		}
		text = append(bytes.TrimSuffix(text, []byte(",")), "},"...)
	}
	text[len(text)-1] = ']'
	a := args{"rows": string(text)}
	if packs {
		a["bytes"] = pack.Parameter()
	}
	return s.Exec(ctx, name, a)
}
