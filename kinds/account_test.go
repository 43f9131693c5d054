package kinds

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAccounts compares accounts with the rules of PAM's account check
// (check_shadow_expiry of pam_unix). Today is day 20000.
func TestAccounts(t *testing.T) {
	t.Parallel()
	today := time.Unix(20000*24*60*60+12345, 0)
	for _, c := range []struct{ name, fields, want string }{
		{"an ordinary account", "$y$x:19000:0:99999:7:::", ""},
		{"a locked password", "!:19000:0:99999:7:::", ""},
		{"a service user", "*:19000::::::", ""},
		{"fields that are missing", "*:19000", ""},
		{"the account expires tomorrow", "x:19000:0:99999:7::20001:", ""},
		{"the account expires today", "x:19000:0:99999:7::20000:", "the account expired on 2024-10-04"},
		{"the account expired long ago", "x:19000:0:99999:7::1:", "the account expired on 1970-01-02"},
		{"an account that expires on day 0", "x:19000:0:99999:7::0:", "the account expired on 1970-01-01"},
		{"the password must be changed", "x:0:0:99999:7:::", "the password must be changed"},
		{"the password was changed in the future", "x:20001:0:1:7:0::", ""},
		{"the password is as old as it may be", "x:19990:0:10:7:::", ""},
		{"the password is a day too old", "x:19989:0:10:7:::", "the password expired on 2024-10-03"},
		{"it may still be changed", "x:19989:0:10:7:5::", "the password expired on 2024-10-03; change it with passwd, or"},
		{"it may not be changed any more", "x:19980:0:10:7:5::", "and the account with it"},
		{"a limit of inactivity without a limit of age", "x:19000:0::7:0::", ""},
	} {
		file := filepath.Join(t.TempDir(), "shadow")
		if err := os.WriteFile(file, []byte("root:*:19000:0:99999:7:::\nme:"+c.fields+"\nme2:x:0:0:::::\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		err := checkAccount(file, "me", today)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: refused: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		}
		if err := checkAccount(file, "nobody-here", today); err != nil {
			t.Errorf("an account of another source: %v", err)
		}
	}
	if err := checkAccount(filepath.Join(t.TempDir(), "none"), "me", today); err != nil {
		t.Errorf("a file that cannot be read: %v", err)
	}
}
