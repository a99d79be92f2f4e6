package linkage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
)

// Backlog returns how many connections the listening TCP sockets on port may
// have waiting: the second argument of listen(2), which the kernel lowers to
// net.core.somaxconn. It is the Send-Q of ss -ltn. Sockets of all
// processes in this network namespace are looked at; it is an error if none
// listens, or if several listen with different backlogs.
//
// It asks the kernel through sock_diag(7), as ss does, because
// /proc/net/tcp has only the number of connections that wait now.
func Backlog(port int) (int, error) {
	backlog, err := listeners(port)
	if err != nil {
		return 0, fmt.Errorf("backlog of tcp port %d: %w", port, err)
	}
	return backlog, nil
}

// Numbers of <linux/sock_diag.h> and <linux/inet_diag.h> that syscall lacks,
// and the sizes and offsets of the structs there.
const (
	sockDiagByFamily = 20
	stateListen      = 10
	requestLen       = 56 // inet_diag_req_v2
	messageLen       = 72 // inet_diag_msg
	messagePort      = 4  // id.idiag_sport, big-endian
	messageBacklog   = 60 // idiag_wqueue; for a listener, the backlog's limit
)

// listeners returns the backlog that all listeners on port have.
func listeners(port int) (int, error) {
	if port < 1 || port > 65535 {
		return 0, errors.New("want a port from 1 to 65535")
	}
	var found []uint32
	for _, family := range []uint8{syscall.AF_INET, syscall.AF_INET6} {
		backlogs, err := dump(family, uint16(port))
		if err != nil {
			return 0, err
		}
		found = append(found, backlogs...)
	}
	if len(found) == 0 {
		return 0, errors.New("no socket listens")
	}
	for _, backlog := range found {
		if backlog != found[0] {
			return 0, fmt.Errorf("%d sockets listen, with backlogs %d", len(found), found)
		}
	}
	return int(found[0]), nil
}

// dump asks for the listeners of one address family on port.
func dump(family uint8, port uint16) ([]uint32, error) {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, syscall.NETLINK_INET_DIAG)
	if err != nil {
		return nil, fmt.Errorf("sock_diag socket: %w", err)
	}
	defer syscall.Close(fd)
	// The kernel answers at once; the limit is there so that nothing waits
	// without one.
	limit := syscall.NsecToTimeval(int64(toolLimit))
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &limit); err != nil {
		return nil, fmt.Errorf("sock_diag time limit: %w", err)
	}
	if err := syscall.Sendto(fd, request(family, port), 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return nil, fmt.Errorf("sock_diag request: %w", err)
	}
	var found []uint32
	buf := make([]byte, 64<<10) // more than the kernel puts in a datagram
	for {
		n, _, err := syscall.Recvfrom(fd, buf, 0)
		if err != nil {
			return nil, fmt.Errorf("sock_diag answer: %w", err)
		}
		backlogs, done, err := parseAnswer(buf[:n], port)
		if err != nil {
			return nil, fmt.Errorf("sock_diag answer: %w", err)
		}
		found = append(found, backlogs...)
		if done {
			return found, nil
		}
	}
}

// request returns the message that asks for all listeners on port: a netlink
// header and an inet_diag_req_v2.
func request(family uint8, port uint16) []byte {
	native := binary.NativeEndian
	msg := make([]byte, 0, syscall.NLMSG_HDRLEN+requestLen)
	msg = native.AppendUint32(msg, uint32(cap(msg)))
	msg = native.AppendUint16(msg, sockDiagByFamily)
	msg = native.AppendUint16(msg, syscall.NLM_F_REQUEST|syscall.NLM_F_DUMP)
	msg = native.AppendUint32(msg, 1) // sequence number
	msg = native.AppendUint32(msg, 0) // to the kernel
	msg = append(msg, family, syscall.IPPROTO_TCP, 0, 0)
	msg = native.AppendUint32(msg, 1<<stateListen)
	msg = binary.BigEndian.AppendUint16(msg, port)
	return msg[:cap(msg)] // any address, any peer
}

// parseAnswer returns the backlogs of the listeners on port in one datagram
// of an answer, and whether it was the last.
func parseAnswer(datagram []byte, port uint16) (backlogs []uint32, done bool, err error) {
	messages, err := syscall.ParseNetlinkMessage(datagram)
	if err != nil {
		return nil, false, err
	}
	for _, m := range messages {
		switch {
		case m.Header.Type == syscall.NLMSG_DONE || m.Header.Type == syscall.NLMSG_ERROR:
			return backlogs, true, status(m.Data)
		case m.Header.Type != sockDiagByFamily || len(m.Data) < messageLen:
			return nil, true, fmt.Errorf("message of type %d with %d bytes", m.Header.Type, len(m.Data))
		case binary.BigEndian.Uint16(m.Data[messagePort:]) == port:
			backlogs = append(backlogs, binary.NativeEndian.Uint32(m.Data[messageBacklog:]))
		}
	}
	return backlogs, false, nil
}

// status returns the error in the last message of an answer, which begins
// with 0 or with an errno made negative.
func status(data []byte) error {
	if len(data) < 4 {
		return errors.New("it ends without a status")
	}
	if n := int32(binary.NativeEndian.Uint32(data)); n < 0 {
		return syscall.Errno(-n)
	}
	return nil
}
