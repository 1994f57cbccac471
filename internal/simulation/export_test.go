package simulation

// AfterEachWrite has the stand-ins' every single write saved, as if the process could be killed right after it, and calls f.
func (s *Simulation) AfterEachWrite(f func() error) {
	own := &client{store: s.store, written: func() error {
		if err := s.save(); err != nil {
			return err
		}
		return f()
	}}
	s.client, s.engine.client = own, own
}
