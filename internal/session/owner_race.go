//go:build cgo && race

package session

import (
	"bytes"
	"fmt"
	"runtime"
)

// An owner knows the goroutine that made it. libzmq answers a socket that two
// threads use at once with an assertion that ends the process; in a build with
// the race detector the mistake is a Go panic with a stack.
type owner struct{ goroutine string }

func newOwner() owner { return owner{goroutine()} }

// check panics unless it is called on the goroutine that made the owner.
func (o owner) check() {
	if g := goroutine(); g != o.goroutine {
		panic(fmt.Sprintf("session: a socket of %s was used by %s", o.goroutine, g))
	}
}

// goroutine names the one that calls, such as "goroutine 7", by the first line
// of its stack: the runtime has no other way to tell.
func goroutine() string {
	buf := make([]byte, 64)
	line := buf[:runtime.Stack(buf, false)]
	name, _, _ := bytes.Cut(line, []byte(" ["))
	return string(name)
}
