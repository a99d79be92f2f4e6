package flags

import "fmt"

const (
	// maxFlight is the most memory in bytes that the messages of one stream
	// may take at once.
	maxFlight = 4 << 30

	// minMessage is what a message takes in a queue of libzmq even if it is
	// empty, the size of a zmq_msg_t in bytes.
	minMessage = 64
)

// CheckMemory returns an error if a stream of messages of size bytes could
// take more than 4 GiB at once. Count is the number of messages that all
// senders together are to send, or 0 if it is not known; pipes is how many
// connections there are, and held how many messages the roles keep room for
// besides.
//
// Senders that are faster than their receiver fill the queues on both sides of
// every connection, each up to the high-water mark hwm; that, or count if it is
// smaller, is the number of messages in flight. Without a high-water mark it is
// count, which must then be known. An empty or small message takes 64 bytes.
func CheckMemory(size, count, hwm, pipes, held int) error {
	flight := 2 * uint64(hwm) * uint64(pipes)
	known := count > 0
	switch {
	case hwm == 0 && !known:
		return fmt.Errorf("-hwm: %q sets no limit to the messages in flight, whose number is not known [give it, as in -benchtime=100000x]", "0")
	case hwm == 0, known && uint64(count) < flight:
		flight = uint64(count)
	}
	flight += uint64(held)
	each := uint64(max(size, minMessage))
	most := maxFlight / each
	if flight <= most {
		return nil
	}
	remedy := "use a smaller -size"
	if room := int64(most) - int64(held); room/2/int64(pipes) > 0 {
		remedy += fmt.Sprintf(", or -hwm %d", room/2/int64(pipes))
	}
	return fmt.Errorf("-size: %q with -hwm %d: up to %d messages in flight take %.1f GiB, more than the limit of 4 GiB [%s]",
		fmt.Sprint(size), hwm, flight, float64(flight)*float64(each)/(1<<30), remedy)
}
