//go:build !linux

package affinity

import "errors"

// Allowed is for Linux.
func Allowed() ([]int, error) { return nil, errors.ErrUnsupported }

// Pin is for Linux.
func Pin(int) (restore func() error, err error) { return nil, errors.ErrUnsupported }

// Threads is for Linux.
func Threads() ([]Thread, error) { return nil, errors.ErrUnsupported }

// ThreadsOf is for Linux.
func ThreadsOf(int) ([]Thread, error) { return nil, errors.ErrUnsupported }
