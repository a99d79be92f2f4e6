//go:build cgo

package session

import (
	"time"

	"golang.org/x/sys/unix"
)

// A waiter is what a socket needs to wait with; made at the first wait.
type waiter struct {
	polls   [1]unix.PollFd
	timeout unix.Timespec
}

// Wait waits until there may be a message for TryRecv, for limit at most, and
// reports whether there may be. It wakes to the nanosecond as far as the kernel
// is in time: zmq_poll knows milliseconds only. TryRecv must have found nothing
// since the last call on the socket, as libzmq tells of what is new once (see
// ZMQ_FD in zmq_getsockopt(3)). A signal ends the wait early; the caller looks
// at the clock in any case. It allocates nothing, so that a loop may spin on it.
func (s *Socket) Wait(limit time.Duration) (ready bool, err error) {
	s.check()
	if s.waiter == nil {
		fd, err := s.z.GetFd()
		if err != nil {
			return false, s.fault("recv", err)
		}
		s.waiter = &waiter{polls: [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}}
	}
	w := s.waiter
	w.timeout = unix.NsecToTimespec(max(limit, 0).Nanoseconds())
	n, err := unix.Ppoll(w.polls[:], &w.timeout, nil)
	if err != nil && err != unix.EINTR {
		return false, s.fault("recv", err)
	}
	return n > 0, nil
}
