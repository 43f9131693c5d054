package testserver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Galera is a cluster of three MariaDB servers, which replicate each other's
// transactions.
type Galera struct {
	Nodes [3]*GaleraNode

	server  *Server
	address string // of all nodes
	program string
}

// GaleraNode is a server of a Galera.
type GaleraNode struct {
	// URL is the URL of the cluster's database on this server.
	URL string

	cluster                    *Galera
	name, data                 string
	port, group, parts, states int
	cmd                        *exec.Cmd // nil: the server does not run
}

// libgalera is the library that makes a MariaDB server a part of a cluster.
const libgalera = "/usr/lib/galera/libgalera_smm.so"

// StartGalera starts a cluster, whose servers are killed at the end of the test. The
// test is skipped, or fails if HOURBELL_TEST_REQUIRE=1, if MariaDB, Galera or rsync is
// not installed.
func StartGalera(t testing.TB) *Galera {
	t.Helper()
	s := New(t)
	g := &Galera{server: s, program: s.mariadbd(), address: "gcomm://"}
	for _, needed := range []string{libgalera, "rsync"} {
		if _, err := exec.LookPath(needed); err != nil {
			if _, err := os.Stat(needed); err != nil {
				Missing(t, needed+" is not installed")
			}
		}
	}
	for i := range g.Nodes {
		n := &GaleraNode{cluster: g, name: fmt.Sprint("n", i+1), port: freePort(s), group: freePort(s), parts: freePort(s), states: freePort(s)}
		n.URL, n.data = mariadbURL(n.port), filepath.Join(s.Data, n.name)
		if g.Nodes[i] = n; i > 0 {
			g.address += ","
		}
		g.address += fmt.Sprint("127.0.0.1:", n.group)
	}
	s.prepareMariaDB(g.Nodes[0].data)
	for i, n := range g.Nodes {
		if i > 0 {
			s.Prepare("mkdir", n.data, n.data+temporary)
			n.Start()
		} else {
			n.start("--wsrep-new-cluster")
		}
		t.Cleanup(n.Kill)
	}
	return g
}

// Start starts a server that was killed, and waits until it has what it missed.
func (n *GaleraNode) Start() {
	n.cluster.server.t.Helper()
	n.start()
}

func (n *GaleraNode) start(more ...string) {
	s := n.cluster.server
	s.t.Helper()
	options := append(s.mariadbOptions(n.data, n.port),
		"--binlog-format=ROW", "--innodb-autoinc-lock-mode=2", "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=16M",
		"--wsrep-on=ON", "--wsrep-provider="+libgalera, "--wsrep-cluster-name=hourbell", "--wsrep-node-name="+n.name,
		"--wsrep-cluster-address="+n.cluster.address, fmt.Sprint("--wsrep-node-address=127.0.0.1:", n.group),
		fmt.Sprintf("--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:%d;ist.recv_addr=127.0.0.1:%d;gcache.size=32M;"+
			"evs.keepalive_period=PT0.5S;evs.inactive_check_period=PT0.5S;evs.suspect_timeout=PT4S;"+
			"evs.inactive_timeout=PT8S;evs.install_timeout=PT8S", n.group, n.parts),
		"--wsrep-sst-method=rsync", fmt.Sprint("--wsrep-sst-receive-address=127.0.0.1:", n.states))
	n.cmd = s.Command(nil, n.cluster.program, append(options, more...)...)
	log := s.logTo(n.cmd, n.name+".log")
	s.must(n.cmd.Start())
	s.awaitPort(n.port, 4*startLimit, log) // it copies what it missed before
}

// Kill ends the server at once.
func (n *GaleraNode) Kill() {
	if n.cmd == nil {
		return
	}
	_ = n.cmd.Process.Kill() // it may have ended
	_ = n.cmd.Wait()         // the signal is its error
	n.cmd = nil
}
