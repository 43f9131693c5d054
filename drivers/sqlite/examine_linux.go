package sqlite

import "syscall"

// fileSystems are names of file systems by their numbers in statfs(2).
var fileSystems = map[int64]string{
	0x6969: "nfs", 0xff534d42: "cifs", 0xfe534d42: "cifs", 0x517b: "smb", 0x00c36400: "ceph", 0x5346414f: "afs", 0x01021994: "tmpfs",
}

// fileSystem returns the name of a folder's file system; "local" for others; empty: it is not known.
func fileSystem(folder string) string {
	var s syscall.Statfs_t
	if syscall.Statfs(folder, &s) != nil {
		return ""
	}
	if name := fileSystems[int64(uint32(s.Type))]; name != "" {
		return name
	}
	return "local"
}
