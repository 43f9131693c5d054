package schedulefile_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/schedulefile"
)

func TestPlaces(t *testing.T) {
	for text, want := range map[string]hourbell.Place{
		"one": {}, "{host: web1}": {Host: "web1"}, "{label: role=db}": {Label: "role=db"}, "host=web1": {Host: "web1"},
		"every": {Every: true}, "{every: {label: role=db}}": {Every: true, Label: "role=db"}, "every:label=role=db": {Every: true, Label: "role=db"},
	} {
		file, err := schedulefile.Read("hours.yaml", []byte("owner: test\nschedules: [{name: a, every: 1h, shell: a, on: "+text+"}]\n"))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := file.Entries[0].On; got != want {
			t.Errorf("%s: %+v", text, got)
		}
		written, err := schedulefile.Write(file)
		if err != nil {
			t.Fatal(err)
		}
		again, err := schedulefile.Read("hours.yaml", written)
		if err != nil || !reflect.DeepEqual(again.Entries[0].Schedule, file.Entries[0].Schedule) {
			t.Errorf("%s is written as %s: %v", text, written, err)
		}
	}
}

func TestMistakesInPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"everywhere":                   `on: "everywhere" is not a place; write one, every, host=NAME, label=KEY=VALUE or every:label=KEY=VALUE`,
		"{hots: web1}":                 `hots is not a key here (did you mean "host"?)`,
		"{}":                           `on is missing`,
		"{host: a b}":                  `is not the name of a host`,
		"{label: db}":                  `is not a label`,
		"{host: web1, label: role=db}": `label is given besides host`,
		"[web1]":                       `on is a list`,
		"{every: role=db}":             `every is not a mapping; write on: every, or on: {every: {label: KEY=VALUE}}`,
		"{every: {host: web1}}":        `host is not a key here`,
		"{every: {label: db}}":         `is not a label`,
	} {
		_, err := schedulefile.Read("hours.yaml", []byte("owner: test\nschedules: [{name: a, every: 1h, shell: a, on: "+text+"}]\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\ngot  %v\nwant %s", text, err, want)
		}
	}
}
