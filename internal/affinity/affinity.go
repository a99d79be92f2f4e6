// Package affinity says on which CPUs threads may run, pins one thread to one
// CPU, and gives it back as it was. It is sched_setaffinity(2) of Linux;
// elsewhere every function returns errors.ErrUnsupported.
package affinity

import (
	"fmt"
	"strings"
)

// Limit is one more than the highest CPU number there can be.
const Limit = 1024

// A Thread is a thread of this process as the kernel sees it.
type Thread struct {
	ID   int
	Name string // what libzmq calls its own begins with ZMQbg
	CPUs string // on which it may run, as in 0-3,8
}

// Text writes CPUs, in their order, as the kernel does: as in 0-3,8.
func Text(cpus []int) string {
	var items []string
	for i := 0; i < len(cpus); {
		last := i
		for last+1 < len(cpus) && cpus[last+1] == cpus[last]+1 {
			last++
		}
		if last == i {
			items = append(items, fmt.Sprint(cpus[i]))
		} else {
			items = append(items, fmt.Sprintf("%d-%d", cpus[i], cpus[last]))
		}
		i = last + 1
	}
	return strings.Join(items, ",")
}
