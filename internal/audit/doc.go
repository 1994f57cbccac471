// Package audit seals audit events into a hash chain and finds what was changed in it
// afterwards. It is pure: package postgres brings the rows.
//
// # Order
//
// Events are sealed in the order of the transactions that wrote them (tx, then id),
// each once no transaction before it can still commit. So an event that comes to light
// before one that is sealed already was put there by other means.
//
// # Chain
//
// The hash at position n is
//
//	SHA-256(hash at n-1 ‖ fields of the event ‖ fields of its seal)
//
// where the hash at position 0 is the SHA-256 of the text "sluice audit chain 1". A field
// is written as its column's name, a space, the length of its value in bytes, a space, the
// value and a line feed; one that is NULL as its name, a space, a minus and a line feed.
// The fields are, in this order,
//
//	id tx at actor actor_kind action object application environment release_id
//	promotion_id message before after request_id source_address
//	horizon sealed_at
//
// Numbers are decimal, times RFC 3339 in UTC with six digits of microseconds; before
// and after are JSON as PostgreSQL prints a jsonb, without white space outside of strings.
// A column that comes later must be left out where it is NULL: old hashes stay as they are.
//
// # Limits
//
// Who may write to the database past Sluice can forge new events at the end, and who may
// replace every row can rebuild the chain from the start. The first stands out by its
// position and time at most; the second is found only by a Head that was noted elsewhere.
package audit
