package flags

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxInt is the limit of what libzmq and its binding take as a C int: sizes,
// which come back as the result of a receive, and high-water marks.
const maxInt = math.MaxInt32

// number returns the plain decimal integer from low to high that text is. A
// sign, a leading zero, a blank, an underscore, an exponent and a unit are
// errors: each of them means different numbers to different readers.
func number(text string, low, high int) (int, error) {
	if text == "" || strings.Trim(text, "0123456789") != "" || len(text) > 1 && text[0] == '0' {
		return 0, fmt.Errorf("%q is not a plain decimal integer from %d to %d [write digits only, without leading zeros]", text, low, high)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > int64(high) {
		return 0, fmt.Errorf("%q is above the limit of %d [use a plain decimal integer from %d to %d]", text, high, low, high)
	}
	if n < int64(low) {
		return 0, fmt.Errorf("%q is below the limit of %d [use a plain decimal integer from %d to %d]", text, low, low, high)
	}
	return int(n), nil
}

func parseHWM(f *Flags, text string) (err error) {
	f.HWM, err = number(text, 0, maxInt)
	return err
}

// parseIOThreads takes up to 64 since ZMQ_AFFINITY has 64 bits: no socket can
// be given to a thread beyond. It takes no 0, with which a bind to tcp or ipc
// fails for want of a thread.
func parseIOThreads(f *Flags, text string) (err error) {
	f.IOThreads, err = number(text, 1, 64)
	return err
}

// parseLibzmq takes exactly MAJOR.MINOR.PATCH. Empty text is an error too: it
// is a script's unset variable, and would switch the demand off.
func parseLibzmq(f *Flags, text string) error {
	parts := strings.Split(text, ".")
	for _, part := range parts {
		if _, err := number(part, 0, maxInt); err != nil || len(parts) != 3 {
			return fmt.Errorf("%q is not a version [write MAJOR.MINOR.PATCH, as in 4.3.5]", text)
		}
	}
	f.Libzmq = text
	return nil
}
