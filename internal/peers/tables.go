package peers

import (
	"errors"
	"unsafe"

	"github.com/armon/go-radix"
	"github.com/gammazero/radixtree"
	iradix "github.com/hashicorp/go-immutable-radix/v2"
	art "github.com/plar/go-adaptive-radix-tree/v2"
	"github.com/tchap/go-patricia/v2/patricia"
	"github.com/tidwall/btree"
)

// view is the bytes as a string without a copy, for a library that looks up
// strings and keeps none: a look-up is not to pay for the conversion.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

type goMap map[string]*int

func (t goMap) get(key []byte) *int       { return t[string(key)] }
func (t goMap) put(key []byte, refs *int) { t[string(key)] = refs }
func (t goMap) remove(key []byte)         { delete(t, string(key)) }
func (t goMap) size() int                 { return len(t) }

type armon struct{ *radix.Tree }

func (t armon) get(key []byte) *int {
	refs, _ := t.Get(view(key))
	n, _ := refs.(*int)
	return n
}
func (t armon) put(key []byte, refs *int) { t.Insert(string(key), refs) }
func (t armon) remove(key []byte)         { t.Delete(view(key)) }
func (t armon) size() int                 { return t.Len() }

func (t armon) match(data []byte) bool {
	_, _, ok := t.LongestPrefix(view(data))
	return ok
}

type plar struct{ art.Tree }

func (t plar) get(key []byte) *int {
	refs, _ := t.Search(key)
	n, _ := refs.(*int)
	return n
}
func (t plar) put(key []byte, refs *int) { t.Insert(append([]byte{}, key...), refs) }
func (t plar) remove(key []byte)         { t.Delete(key) }
func (t plar) size() int                 { return t.Size() }

// An immutable tree makes a new one with each change.
type immutable struct{ *iradix.Tree[*int] }

func (t *immutable) get(key []byte) *int {
	refs, _ := t.Get(key)
	return refs
}
func (t *immutable) put(key []byte, refs *int) {
	t.Tree, _, _ = t.Insert(append([]byte{}, key...), refs)
}
func (t *immutable) remove(key []byte) { t.Tree, _, _ = t.Delete(key) }
func (t *immutable) size() int         { return t.Len() }

func (t *immutable) match(data []byte) bool {
	_, _, ok := t.Root().LongestPrefix(data)
	return ok
}

type bTree struct{ *btree.Map[string, *int] }

func (t bTree) get(key []byte) *int {
	refs, _ := t.Get(view(key))
	return refs
}
func (t bTree) put(key []byte, refs *int) { t.Set(string(key), refs) }
func (t bTree) remove(key []byte)         { t.Delete(view(key)) }
func (t bTree) size() int                 { return t.Len() }

// A tchap counts its keys, as the library does not.
type tchap struct {
	*patricia.Trie
	n int
}

func (t *tchap) get(key []byte) *int {
	n, _ := t.Get(key).(*int)
	return n
}
func (t *tchap) put(key []byte, refs *int) {
	if t.Insert(append(patricia.Prefix{}, key...), refs) {
		t.n++
	}
}
func (t *tchap) remove(key []byte) {
	if t.Delete(key) {
		t.n--
	}
}
func (t *tchap) size() int { return t.n }

var found = errors.New("found")

func (t *tchap) match(data []byte) bool {
	return t.VisitPrefixes(data, func(patricia.Prefix, patricia.Item) error { return found }) == found
}

type gammazero struct{ *radixtree.Tree[*int] }

func (t gammazero) get(key []byte) *int {
	refs, _ := t.Get(view(key))
	return refs
}
func (t gammazero) put(key []byte, refs *int) { t.Put(string(key), refs) }
func (t gammazero) remove(key []byte)         { t.Delete(view(key)) }
func (t gammazero) size() int                 { return t.Len() }

func (t gammazero) match(data []byte) bool {
	for range t.IterPath(view(data)) {
		return true
	}
	return false
}
