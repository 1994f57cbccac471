package migration

import "fmt"

// Check judges the files as one set, in the order in which the tool runs them.
// history are earlier files, applied at the old version already: they are read
// for types, NOT NULL and uniqueness, and not judged. An error means that the
// files could not be put into an order.
func Check(tool Tool, files, history []File) (Result, error) {
	units, err := arrange(tool, files)
	if err != nil {
		return Result{}, err
	}
	before, err := arrange(tool, history)
	if err != nil {
		return Result{}, fmt.Errorf("history: %w", err)
	}
	known := newSchema()
	for _, u := range before {
		newJudge(known, 0, u.up).run(u.up)
		known.forgetTemporary(true)
	}
	return judgeUnits(known, units), nil
}

func judgeUnits(known *schema, units []unit) Result {
	var all []action
	for _, u := range units {
		all = append(all, u.up...)
	}
	j := newJudge(known, 0, all)
	back := make([]wayBack, len(units))
	starts := make([]int, len(units)+1)
	for i, u := range units {
		j.file, j.fileName = i+1, u.name
		j.run(u.up)
		starts[i+1] = len(j.statements)
		j.schema.forgetTemporary(true) // files may run in sessions of their own
		back[i] = judgeDown(j.schema, j.file, u.down)
	}
	j.weighColumns()

	result := Result{Verdict: Compatible, Reversible: ReversibleYes, Files: []FileResult{}, Statements: []Statement{}}
	for i, u := range units {
		f := FileResult{File: u.name, Verdict: Compatible, Reversible: back[i].reversible()}
		for _, s := range j.statements[starts[i]:starts[i+1]] {
			f.Verdict = worseVerdict(f.Verdict, s.Verdict)
			if !(s.lifted && back[i].known) {
				f.Reversible = worseReversible(f.Reversible, s.Reversible)
			}
			result.Statements = append(result.Statements, *s)
		}
		result.Verdict = worseVerdict(result.Verdict, f.Verdict)
		result.Reversible = worseReversible(result.Reversible, f.Reversible)
		result.Files = append(result.Files, f)
	}
	return result
}
