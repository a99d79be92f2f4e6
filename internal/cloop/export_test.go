//go:build cgo

package cloop

// Descriptor is the socket of an End over ipc or tcp.
func (e *End) Descriptor() int { return e.fd }

// NewRings returns what NewPair("inproc", size) does, with so many slots.
func NewRings(slots, size int) (near, far *End, err error) { return queues(slots, size) }

// Share makes the End one that senders share, for messages of size bytes.
func (e *End) Share(size, senders int) { e.Loop = NewLoop(size, 0, senders) }
