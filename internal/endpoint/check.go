package endpoint

import (
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// CheckBind checks e against this host as it is now, and changes nothing.
//
// For tcp an interface must exist and have an IPv4 address, and so must the
// zone of an IPv6 address. For ipc the directory must exist, and at the path
// there may be nothing, or a socket left behind by a program that has ended:
// libzmq's bind deletes whatever is there, be it a file with data or the
// socket of a running program. The second is found by connecting to it.
//
// [ParseBind] ends with it; call it again where a bind comes much later or is
// tried again.
func (e Endpoint) CheckBind() error {
	if e.Transport == "tcp" {
		return e.checkInterface()
	}
	if !e.hasFile() {
		return nil
	}
	socket, err := e.checkFile()
	if err != nil || !socket {
		return err
	}
	conn, err := net.DialTimeout("unix", e.Path, time.Second)
	if err == nil {
		conn.Close()
		return refuse(e.String(), "end that program or use another path", "another program is listening there")
	}
	if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist) {
		return refuse(e.String(), "remove it or use another path", "cannot tell whether the socket there is in use: %w", err)
	}
	return nil
}

// CheckConnect checks e against this host as it is now, and changes nothing.
//
// For tcp the zone of an IPv6 address must exist. For ipc the directory must
// exist, and at the path there may be nothing yet, or a socket; libzmq would
// try anything else again and again without a word. [ParseConnect] ends with
// it.
func (e Endpoint) CheckConnect() error {
	if e.Transport == "tcp" {
		return e.checkZone()
	}
	if !e.hasFile() {
		return nil
	}
	_, err := e.checkFile()
	return err
}

// checkFile reports whether there is a socket at e's path. What is not a
// socket is an error; so is a symbolic link, which a bind would replace.
func (e Endpoint) checkFile() (socket bool, err error) {
	if e.Path[len(e.Path)-1] == '/' {
		return false, refuse(e.String(), "add a name for the socket", "the path is that of a directory")
	}
	dir := filepath.Dir(e.Path)
	info, err := os.Stat(dir)
	if err != nil {
		return false, refuse(e.String(), "make it or use another path", "cannot use the directory: %w", err)
	}
	if !info.IsDir() {
		return false, refuse(e.String(), "use another path", "%q is not a directory", dir)
	}
	info, err = os.Lstat(e.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, refuse(e.String(), "use another path", "cannot look at the path: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return false, refuse(e.String(), "remove it or use another path", "what is there is not a socket (%s)", info.Mode())
	}
	return true, nil
}

func (e Endpoint) checkInterface() error {
	if _, err := netip.ParseAddr(e.Host); err == nil {
		return e.checkZone()
	}
	if e.Host == "*" {
		return nil
	}
	iface, err := net.InterfaceByName(e.Host)
	if err != nil {
		return refuse(e.String(), "use an address or an interface", "cannot bind to %q: %w", e.Host, err)
	}
	addrs, err := iface.Addrs()
	if err != nil {
		return refuse(e.String(), "use an address", "cannot read the addresses of %q: %w", e.Host, err)
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil {
			return nil
		}
	}
	return refuse(e.String(), "use an address or another interface", "interface %q has no IPv4 address", e.Host)
}

// checkZone looks for the interface after the % of an IPv6 address, which is
// written as a name or as a number.
func (e Endpoint) checkZone() error {
	addr, err := netip.ParseAddr(e.Host)
	if err != nil || addr.Zone() == "" {
		return nil
	}
	if _, err = net.InterfaceByName(addr.Zone()); err == nil {
		return nil
	}
	if index, numErr := strconv.Atoi(addr.Zone()); numErr == nil {
		if _, err = net.InterfaceByIndex(index); err == nil {
			return nil
		}
	}
	return refuse(e.String(), "put the name of an interface after the %", "zone %q: %w", addr.Zone(), err)
}
