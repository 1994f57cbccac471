package migration

// Verdict says whether the old version can go on once a migration is applied.
type Verdict string

// Verdicts, from best to worst.
const (
	Compatible Verdict = "compatible"
	Unknown    Verdict = "unknown" // depends on data or code that is not in the files: a person must say
	Breaking   Verdict = "breaking"
)

// Reversible says whether the state before can be put back.
type Reversible string

// Answers, from best to worst.
const (
	ReversibleYes     Reversible = "yes"
	ReversibleUnknown Reversible = "unknown" // the inverse may be refused, or needs a text that is not in the files
	ReversibleNo      Reversible = "no"      // values that were there before are destroyed or overwritten
)

// Result is the judgement of a set of files.
type Result struct {
	Verdict    Verdict      `json:"verdict"`
	Reversible Reversible   `json:"reversible"` // Downs counted
	Files      []FileResult `json:"files"`
	Statements []Statement  `json:"statements"`
}

// FileResult is the judgement of one file within its set.
type FileResult struct {
	File       string     `json:"file"`
	Verdict    Verdict    `json:"verdict"`
	Reversible Reversible `json:"reversible"` // its Down counted
}

// Statement is the judgement of one action. A statement may hold several.
type Statement struct {
	File       string     `json:"file"`
	N          int        `json:"n"`    // number of the statement in its file, from 1
	Line       int        `json:"line"` // where it begins in its file, from 1
	Kind       string     `json:"kind"` // PostgreSQL's name of the command, or UNPARSED
	Verdict    Verdict    `json:"verdict"`
	Reversible Reversible `json:"reversible"` // before any Down is counted
	Reason     string     `json:"reason"`     // a code

	lifted bool // a Down of its file turns reversible into yes
}

// set gives the statement the meaning of a ruling.
func (s *Statement) set(r ruling) {
	rule := rules[r.reason]
	s.Reason, s.Verdict, s.Reversible, s.lifted = r.reason, rule.verdict, rule.reversible, rule.lifted
	if r.tentative && s.Reversible == ReversibleYes {
		s.Reversible, s.lifted = ReversibleUnknown, true
	}
}

func worseVerdict(a, b Verdict) Verdict {
	rank := map[Verdict]int{Compatible: 0, Unknown: 1, Breaking: 2}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

func worseReversible(a, b Reversible) Reversible {
	rank := map[Reversible]int{ReversibleYes: 0, ReversibleUnknown: 1, ReversibleNo: 2}
	if rank[b] > rank[a] {
		return b
	}
	return a
}
