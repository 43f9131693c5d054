package kinds

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// onlyZombies says whether all members of the group are dead and merely not
// reaped. In a container whose first process reaps nothing, orphans stay so
// for ever.
func onlyZombies(group int) bool {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(files) == 0 {
		return false
	}
	number := []byte(strconv.Itoa(group))
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended meanwhile
		}
		// "pid (name) state parent group …", and the name may hold anything.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) > 2 && bytes.Equal(fields[2], number) && fields[0][0] != 'Z' {
			return false
		}
	}
	return true
}
