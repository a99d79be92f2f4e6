package payload

import "fmt"

// A Kind says what happened to a message.
type Kind int

const (
	Lost       Kind = iota + 1 // it never came
	Repeated                   // it came again
	OutOfOrder                 // it came after one sent later
	Damaged                    // its bytes changed
	WrongSize                  // its length is not what both sides agreed on
)

// A Fault is one message that did not arrive as it was sent.
type Fault struct {
	Kind   Kind
	Sender int    // who sent it, where several senders share the receiver
	Index  uint64 // how many messages had passed the check before it
	Byte   int    // Damaged: the first byte that differs
	// Want and Got are message numbers; of a Damaged message they are the two
	// values of the byte, and of one of WrongSize the two lengths in bytes.
	Want, Got uint64
}

// Error says what happened to which message.
func (f *Fault) Error() string {
	switch f.Kind {
	case Lost:
		return fmt.Sprintf("message %d of sender %d is lost: number %d came instead", f.Want, f.Sender, f.Got)
	case Repeated:
		return fmt.Sprintf("message %d of sender %d is repeated: it came again where number %d was due", f.Got, f.Sender, f.Want)
	case OutOfOrder:
		return fmt.Sprintf("message %d of sender %d is out of order: number %d came before it", f.Want, f.Sender, f.Got)
	case WrongSize:
		return fmt.Sprintf("message %d has the wrong size: got %d bytes, want %d", f.Index, f.Got, f.Want)
	}
	if f.Byte == 0 && f.Want == 0 {
		return fmt.Sprintf("message %d is damaged: its number reads %d of sender %d", f.Index, f.Got, f.Sender)
	}
	return fmt.Sprintf("message %d is damaged: byte %d is %#02x, want %#02x", f.Index, f.Byte, f.Got, f.Want)
}

// misplaced is the fault of a message that has number got where want is due.
// A number that is behind has been there before. One that is ahead means that
// something is missing; only later messages tell whether it is lost, late or
// damaged, see [Explain].
func (c *Checker) misplaced(sender int, want, got uint64) *Fault {
	return displaced(sender, want, got, c.count())
}

// displaced is misplaced after index messages that passed the check.
func displaced(sender int, want, got, index uint64) *Fault {
	f := &Fault{Kind: Lost, Sender: sender, Want: want, Got: got, Index: index}
	if got < want {
		f.Kind = Repeated
	}
	return f
}

// lookahead is how many more messages Explain asks for: enough for the
// missing one to turn up behind its neighbours, few enough to wait for.
const lookahead = 16

// Explain makes err, the [*Fault] of a message, more exact by looking at the
// messages that follow it: what seemed lost may be out of order, and what
// seemed lost or repeated may have a damaged number. next returns the next
// message, or an error when there is none; that ends the search and is not
// reported. Any other err is returned as it is.
func Explain(err error, next func() ([]byte, error)) error {
	f, ok := err.(*Fault)
	if !ok || f.Kind != Lost && f.Kind != Repeated {
		return err
	}
	for range lookahead {
		msg, err := next()
		if err != nil || len(msg) < header {
			return f
		}
		sender, number := split(msg)
		switch {
		case sender != f.Sender:
			continue
		case number == f.Want && f.Kind == Lost:
			f.Kind = OutOfOrder
			return f
		case number == f.Want+1 && f.Got != f.Want+1, number == f.Got && number == f.Want+1:
			// Its successor is there and it is not: what came in its place was it.
			return &Fault{Kind: Damaged, Sender: f.Sender, Index: f.Index, Got: f.Got}
		case f.Kind == Repeated:
			return f
		}
	}
	return f
}
