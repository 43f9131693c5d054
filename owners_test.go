package hourbell_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/recur"
)

// TestCopiesOfHosts checks what programs see of copies that hosts declare; the suite of drivers has the rule.
func TestCopiesOfHosts(t *testing.T) {
	client := newCluster(t).client(nil)
	declare := func(host string, revision int64, names ...string) error {
		c := hourbell.HostCopy{Owner: "app", Host: host, Path: "/srv/\xff/app.yaml\x00", Revision: revision}
		for _, name := range names {
			c.Schedules = append(c.Schedules, hourbell.Schedule{Name: name, Rule: recur.Every(time.Hour), Job: hourbell.RawArgs{Name: "note"}})
		}
		_, err := client.Schedules.SyncCopy(t.Context(), c)
		return err
	}
	for _, err := range []error{declare("web1", 0, "a"), declare("web2", 0, "a"), declare("web2", 0, "b")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	err := declare("web1", 0, "a")
	var kept *hourbell.NotInForceError
	if !errors.As(err, &kept) || !errors.Is(err, hourbell.ErrStale) || kept.Owner.Version.Host != "web2" || kept.Copy.Host != "web1" {
		t.Errorf("a copy that has not changed: %v", err)
	}
	owners, err := client.Schedules.Owners(t.Context(), hourbell.OwnerFilter{Names: []string{"app"}})
	if err != nil || len(owners) != 1 || fmt.Sprint(owners[0].Declaring(), owners[0].Differing()[0].Host) != "[web2]web1" || owners[0].Copies[0].Path != "/srv/\uFFFD/app.yaml\uFFFD" {
		t.Errorf("the owners are %+v, %v", owners, err)
	}
	done, err := client.Schedules.SyncCopy(t.Context(), hourbell.HostCopy{Owner: "app", Host: "web2", Gone: true})
	if err != nil || done != (hourbell.SyncResult{}) {
		t.Errorf("the end of a copy of two: %+v, %v", done, err)
	}
	if err := declare("web1", 0, "a"); err != nil {
		t.Errorf("the copy that is left: %v", err)
	}
	done, err = client.Schedules.SyncCopy(t.Context(), hourbell.HostCopy{Owner: "app", Host: "web1", Gone: true})
	if err != nil || done != (hourbell.SyncResult{Deleted: 1}) {
		t.Errorf("the end of the last copy: %+v, %v", done, err)
	}

	set := []hourbell.Schedule{{Name: "a", Rule: recur.Every(time.Hour), Job: hourbell.RawArgs{Name: "note"}}}
	for name, wrong := range map[string]hourbell.HostCopy{
		"host":      {Owner: "app", Host: "web 1"},
		"owner":     {Host: "web1"},
		"schedules": {Owner: "app", Host: "web1", Gone: true, Schedules: set},
	} {
		var field *check.FieldError
		if _, err := client.Schedules.SyncCopy(t.Context(), wrong); !errors.As(err, &field) || field.Field != name {
			t.Errorf("a wrong %s: %v", name, err)
		}
	}
}
