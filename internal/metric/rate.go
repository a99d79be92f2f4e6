package metric

import "time"

// Rate returns how many of count passed in each second of elapsed. The count
// is of intervals: if the clock starts at the first message received, it is
// the number of messages after the first; if the clock starts before the
// first, it is all of them. ok is false, and there is no rate, if no interval
// or no time has passed: one message alone has no rate.
//
// libzmq's local_thr and inproc_thr differ: they divide all messages by the
// time since the first, and replace no time by 1 µs, so that one message
// shows as 1000000 msg/s and two show twice their rate.
//
// The arithmetic is in float64, where no count and no size overflows.
func Rate(count int64, elapsed time.Duration) (perSecond float64, ok bool) {
	if count < 1 || elapsed <= 0 {
		return 0, false
	}
	return float64(count) * 1e9 / float64(elapsed.Nanoseconds()), true
}

// Megabits returns the bandwidth of perSecond messages of size bytes as
// libzmq's tools print it, in 10^6 bits per second ("Mb/s"). It is for their
// text only and no [Unit], as benchunit does not know it.
func Megabits(perSecond float64, size int) float64 {
	return perSecond * float64(size) * 8 / 1e6
}
