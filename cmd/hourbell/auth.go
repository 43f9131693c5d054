package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
)

// authFile is the flag that names the file of users.
type authFile string

func (f *authFile) addTo(c *cobra.Command) {
	c.PersistentFlags().StringVar((*string)(f), "auth", "", "the file of users and tokens, as for `hourbell serve --auth`")
}

// check reports whether the file is named.
func (f *authFile) check() error {
	if *f == "" {
		return &check.FieldError{Field: "auth", Problem: "is missing", Remedy: "name the file of users, such as --auth users.json"}
	}
	return nil
}

func (p *program) authCommand() *cobra.Command {
	f := new(authFile)
	c := p.group("auth", "Adds, removes and lists the users and tokens of the API",
		p.authAddCommand(f),
		p.authTokenCommand(f),
		p.authRemoveCommand(f),
		p.authListCommand(f),
	)
	c.Long = "Keeps the file of users and tokens that `hourbell serve --auth FILE` reads, also while the node runs: a change is\n" +
		"in effect with the next request. The file has hashes, and no passwords and no tokens."
	f.addTo(c)
	return c
}

const roleFlagText = "viewer, who only reads; operator, who also changes jobs and schedules; or admin, who also sees and makes commands"

// authRole reads --role.
func authRole(c *cobra.Command, text string) (access.Role, error) {
	if !c.Flags().Changed("role") {
		return 0, &check.FieldError{Field: "role", Problem: "is missing", Remedy: "give --role viewer, operator or admin"}
	}
	return access.ParseRole(text)
}

func (p *program) authAddCommand(f *authFile) *cobra.Command {
	var role string
	c := &cobra.Command{
		Use: "add NAME --role ROLE --auth FILE", Short: "Adds a user, or changes the password and the role of a user", Args: takes(false, "NAME"),
		Long: "Adds a user, or changes the password and the role of a user, whose sessions end then. The password is the first\n" +
			"line of the standard input, and at least 8 bytes long. The file is made if it does not exist.",
		Example:               "  hourbell auth add ada --role admin --auth users.json <password.txt",
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			given, err := authRole(c, role)
			if err := errors.Join(f.check(), check.Name("NAME", args[0]), err); err != nil {
				return err
			}
			password, err := p.readPassword()
			if err != nil {
				return err
			}
			err = access.EditUsers(string(*f), func(u *access.Users) error { return u.Put(args[0], given, password) })
			if err != nil {
				return err
			}
			fmt.Fprintf(p.stdout, "user %q: %v\n", args[0], given)
			return nil
		},
	}
	c.Flags().StringVar(&role, "role", "", roleFlagText)
	return c
}

// readPassword reads the first line of the standard input, unless it is a terminal, which
// would show the password.
func (p *program) readPassword() (string, error) {
	if file, ok := p.stdin.(*os.File); ok && isTerminal(file) {
		return "", &check.FieldError{
			Field: "password", Problem: "would be shown on the terminal",
			Remedy: "write it to the standard input: `read -rs P && hourbell auth add NAME … <<<\"$P\"`",
		}
	}
	line, err := bufio.NewReader(io.LimitReader(p.stdin, 64<<10)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

func (p *program) authTokenCommand(f *authFile) *cobra.Command {
	var (
		role, expires string
		o             format
	)
	c := &cobra.Command{
		Use: "token NAME --role ROLE [--expires 90d] --auth FILE", Short: "Makes a token for a program, and prints it once", Args: takes(false, "NAME"),
		Long: "Makes a token, which a program sends in the header Authorization: Bearer TOKEN, and prints it. Only its hash is\n" +
			"stored, so it cannot be printed again.",
		Example:               "  hourbell auth token ci --role operator --expires 90d --auth users.json",
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			given, roleErr := authRole(c, role)
			ends, endErr := p.expiry(c, expires)
			if err := errors.Join(f.check(), check.Name("NAME", args[0]), roleErr, endErr); err != nil {
				return err
			}
			var token string
			err := access.EditUsers(string(*f), func(u *access.Users) (err error) {
				token, err = u.AddToken(args[0], given, p.now(), ends)
				return err
			})
			if err != nil {
				return err
			}
			return p.show(o, map[string]string{"token": token}, func(out *bufio.Writer) { fmt.Fprintln(out, token) })
		},
	}
	c.Flags().StringVar(&role, "role", "", roleFlagText)
	c.Flags().StringVar(&expires, "expires", "", "when the token ends: an instant such as 2027-03-01T09:00:00Z, or this "+
		"long from now, such as 90d (default never)")
	o.addTo(c)
	return c
}

// expiry reads --expires; zero: never.
func (p *program) expiry(c *cobra.Command, text string) (time.Time, error) {
	if !c.Flags().Changed("expires") {
		return time.Time{}, nil
	}
	now := p.now()
	ends, err := time.Time{}, notEmpty(c, "expires")
	if d, ok := view.ParseAgo(text); ok {
		ends = now.Add(d)
	} else if err == nil {
		ends, err = view.ParseInstant("expires", text, "")
	}
	if err == nil && !ends.After(now) {
		err = &check.FieldError{
			Field: "expires", Value: check.Shorten(text), Problem: "is not in the future",
			Remedy: "use a later instant, or a duration such as 90d",
		}
	}
	return ends, err
}

func (p *program) authRemoveCommand(f *authFile) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME --auth FILE", Short: "Removes a user or a token", Args: takes(false, "NAME"),
		Long:                  "Removes a user or a token. Running nodes refuse it from the next request on, and the sessions of the user end.",
		Example:               "  hourbell auth remove ci --auth users.json",
		DisableFlagsInUseLine: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := errors.Join(f.check(), check.StoredName("NAME", args[0])); err != nil {
				return err
			}
			err := access.EditUsers(string(*f), func(u *access.Users) error {
				if !u.Remove(args[0]) {
					return fmt.Errorf("neither a user nor a token has the name %q; `hourbell auth list` shows the names", check.Shorten(args[0]))
				}
				return nil
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(p.stdout, "%q: removed\n", args[0])
			return nil
		},
	}
}

func (p *program) authListCommand(f *authFile) *cobra.Command {
	var l listFlags
	c := &cobra.Command{
		Use: "list --auth FILE", Short: "Lists users and tokens by name", Args: takes(false),
		Example:               "  hourbell auth list --auth users.json\n  hourbell auth list --auth users.json --output ndjson",
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := errors.Join(f.check(), l.check()); err != nil {
				return err
			}
			return p.repeat(c, l, func(p *program) error {
				users, err := access.ReadUsers(string(*f))
				if err != nil {
					return err
				}
				p.clock = p.now // which is also the clock that ends tokens
				return printList(p, authListing, l.format, all(users.Entries()))
			})
		},
	}
	l.addTo(c)
	return c
}

// authRecord is a user or a token in machine-readable output.
type authRecord struct {
	Name    string      `json:"name"`
	Type    string      `json:"type"`
	Role    access.Role `json:"role"`
	Created *time.Time  `json:"created_at"`
	Expires *time.Time  `json:"expires_at"`
}

// authListing shows users and tokens.
var authListing = view.Listing[access.Entry]{
	Columns: []string{"NAME", "TYPE", "ROLE", "CREATED", "EXPIRES"},
	Row: func(e access.Entry) []string {
		return []string{e.Name, e.Type, e.Role.String(), plain.Stamp(e.Created), plain.Stamp(e.Expires)}
	},
	Record: func(e access.Entry) any {
		record := authRecord{Name: e.Name, Type: e.Type, Role: e.Role}
		if !e.Created.IsZero() {
			record.Created = &e.Created
		}
		if !e.Expires.IsZero() {
			record.Expires = &e.Expires
		}
		return record
	},
}
