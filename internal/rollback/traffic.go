package rollback

// trafficSwitchable: requests can be led to pods of old without an outage.
func trafficSwitchable(t Traffic) findings {
	var f findings
	f.state(t.ServiceSelectsOld, No, "service-selector-mismatch", "service-selector-unread", Yes)
	switch {
	case t.Replicas == nil:
		f.unknown("replicas-unread")
	case *t.Replicas <= 0:
		f.no("no-replicas")
	}
	for _, r := range t.Rollouts {
		if r.Held {
			f.unknown("rollout-held:" + r.Name)
		}
	}
	if t.sideBySide() && f.oldStack(t.OldStack) {
		return f
	}
	if t.OldStack != Deleted {
		f.state(t.SelectorUnchanged, No, "deployment-selector-changed", "deployment-selector-unread", Yes)
	}
	f.readinessProbe(t.ReadinessProbe)
	f.strategy(t.Strategy)
	f.surge(t)
	f.disruptionBudget(t)
	return f
}

func (t Traffic) sideBySide() bool { return t.Strategy == BlueGreen || t.Strategy == Canary }

// oldStack says whether only the switch of traffic is left to judge: the old
// pods still run, or whether they do was not read.
func (f *findings) oldStack(stack State) (onlySwitch bool) {
	switch stack {
	case Running:
		return true
	case ScaledDown, Deleted, NotUsed:
		return false
	}
	f.unknown("old-stack-unread")
	return true
}

func (f *findings) readinessProbe(probe State) {
	switch probe {
	case Yes:
	case No:
		f.unknown("readiness-probe-absent")
	default:
		f.unknown("readiness-probe-unread")
	}
}

func (f *findings) strategy(strategy State) {
	switch strategy {
	case RollingUpdate, BlueGreen, Canary:
	case Recreate:
		f.unknown("recreate-downtime")
	default:
		f.unknown("strategy-unread")
	}
}

// surge asks for room where pods of old must start before others stop. A rolling
// update whose limit was not read may need it, so that only room is good news.
func (f *findings) surge(t Traffic) {
	limitUnread := t.Strategy == RollingUpdate && t.MaxUnavailable == nil
	needed := t.sideBySide() || t.Strategy == RollingUpdate && !limitUnread && *t.MaxUnavailable == 0
	switch {
	case needed:
		f.state(t.SurgeRoom, No, "no-room-for-surge", "surge-room-unread", Yes)
	case limitUnread && t.SurgeRoom != Yes:
		f.unknown("surge-room-unread")
	}
}

// disruptionBudget counts only where the switch evicts pods: a Deployment's
// rollout deletes them, and no budget holds it up.
func (f *findings) disruptionBudget(t Traffic) {
	if t.SwitchEvictsPods != nil && !*t.SwitchEvictsPods {
		return
	}
	switch allowed := t.PDBDisruptionsAllowed; {
	case allowed != nil && *allowed > 0:
	case allowed == nil || t.SwitchEvictsPods == nil:
		f.unknown("pdb-unread")
	default:
		f.no("pdb-blocks-eviction")
	}
}
