//go:build cgo && !linux

package session

import (
	"errors"
	"time"
)

// A waiter is not there.
type waiter struct{}

// Wait is there on Linux only, which has a wait in nanoseconds.
func (s *Socket) Wait(limit time.Duration) (ready bool, err error) {
	return false, s.fault("recv", errors.ErrUnsupported)
}
