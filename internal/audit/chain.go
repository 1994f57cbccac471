package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Hash is a link of the chain.
type Hash [sha256.Size]byte

// String is the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Head is a position of the chain, counted from 1, and the hash there. It stands for all
// that was sealed up to it.
type Head struct {
	Position int64
	Hash     Hash
}

// Genesis is the head of a chain without events, at position 0.
func Genesis() Head { return Head{Hash: sha256.Sum256([]byte("sluice audit chain 1"))} }

// String is HASH@POSITION, as ParseHead reads it.
func (h Head) String() string { return fmt.Sprintf("%s@%d", h.Hash, h.Position) }

// ParseHead reads HASH@POSITION.
func ParseHead(text string) (Head, error) {
	hash, position, _ := strings.Cut(text, "@")
	content, err := hex.DecodeString(hash)
	n, numberErr := strconv.ParseInt(position, 10, 64)
	if err != nil || len(content) != sha256.Size || numberErr != nil || n < 0 {
		return Head{}, fmt.Errorf("%q is no head of the audit such as %s", text, Genesis())
	}
	return Head{Position: n, Hash: Hash(content)}, nil
}

// Seal is a row of audit_chain as it is stored.
type Seal struct {
	Position int64
	EventID  int64
	Hash     Hash
	Batch
}

// Batch is what seals that were made together have in common.
type Batch struct {
	Horizon uint64 // no transaction of this number or a higher one had begun
	At      time.Time
}

// Next seals an event after the head.
func (h Head) Next(e Event, b Batch) Seal {
	return Seal{Position: h.Position + 1, EventID: e.ID, Hash: link(h.Hash, e, b), Batch: b}
}

// Head is the chain's head once the seal is its newest.
func (s Seal) Head() Head { return Head{Position: s.Position, Hash: s.Hash} }

func link(before Hash, e Event, b Batch) Hash {
	var f fields
	f.Write(before[:])
	e.appendTo(&f)
	f.text("horizon", strconv.FormatUint(b.Horizon, 10))
	f.time("sealed_at", b.At)
	return sha256.Sum256(f.Bytes())
}
