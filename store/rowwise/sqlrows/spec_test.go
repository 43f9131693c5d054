package sqlrows_test

import (
	"database/sql"
	"database/sql/driver"
	"reflect"
	"testing"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// TestSpecColumnsComeBack: each field of a job's description has a column, and comes back from it. Args and headers are passed
// apart from the columns.
func TestSpecColumnsComeBack(t *testing.T) {
	var full, back store.JobSpec
	fields := reflect.ValueOf(&full).Elem()
	for i := range fields.NumField() {
		switch field := fields.Field(i); field.Kind() {
		case reflect.String:
			field.SetString(fields.Type().Field(i).Name)
		case reflect.Slice: // args and headers
		default:
			if field.CanInt() {
				field.SetInt(int64(i + 1))
			} else {
				field.SetUint(uint64(i + 1))
			}
		}
	}
	full.Timeout *= 1000
	targets := sqlrows.SpecTargets(&back)
	for i, c := range sqlrows.SpecColumns {
		value, err := driver.DefaultParameterConverter.ConvertValue(c.Value(&full))
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if scanner, ok := targets[i].(sql.Scanner); ok {
			err = scanner.Scan(value)
		} else {
			target := reflect.ValueOf(targets[i]).Elem()
			target.Set(reflect.ValueOf(value).Convert(target.Type()))
		}
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
	}
	if !reflect.DeepEqual(back, full) {
		t.Errorf("%+v\ncame back as\n%+v", full, back)
	}
}
