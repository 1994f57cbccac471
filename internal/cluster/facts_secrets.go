package cluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/rollback"
)

// askExternalSecret takes the controller's word: one that is ready has read its store and every remote key.
func (l *look) askExternalSecret(ctx context.Context, name string) {
	object, err := l.Client.Resource(externalSecrets).Namespace(l.namespace).Get(ctx, name, metav1.GetOptions{})
	e := rollback.ExternalSecret{Name: name, StoreReady: rollback.Unread, RemoteKey: rollback.Unread}
	switch {
	case apierrors.IsNotFound(err):
		l.unread("ExternalSecret "+name, fmt.Errorf("it is not in namespace %s, so nobody has tried it", l.namespace))
	case err != nil:
		l.unread("ExternalSecret "+name, err)
	default:
		status, reason := condition(object, "Ready")
		switch {
		case status == "True":
			e.StoreReady, e.RemoteKey = rollback.Yes, rollback.Present
		case status == "False" && reason == "SecretSyncedError":
			l.unread("what ExternalSecret "+name+" refers to", fmt.Errorf("its controller could not fetch it"))
		case status == "False":
			e.StoreReady = rollback.No
		default:
			l.unread("ExternalSecret "+name, fmt.Errorf("its controller has not said whether it is ready"))
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.facts.ExternalSecrets[name] = e
}

func (l *look) askSealedSecret(ctx context.Context, name string) {
	object, err := l.Client.Resource(sealedSecrets).Namespace(l.namespace).Get(ctx, name, metav1.GetOptions{})
	s := rollback.SealedSecret{Name: name, Decryptable: rollback.Unread}
	switch {
	case apierrors.IsNotFound(err):
		l.unread("SealedSecret "+name, fmt.Errorf("it is not in namespace %s, so nobody has tried to open it", l.namespace))
	case err != nil:
		l.unread("SealedSecret "+name, err)
	default:
		switch status, _ := condition(object, "Synced"); status {
		case "True":
			s.Decryptable = rollback.Yes
		case "False":
			s.Decryptable = rollback.No
		default:
			l.unread("SealedSecret "+name, fmt.Errorf("its controller has not said whether it could be opened"))
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.facts.SealedSecrets[name] = s
}

// condition is the status and reason of one of an object's conditions, empty when there is none.
func condition(o *unstructured.Unstructured, kind string) (status, reason string) {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		m, _ := c.(map[string]any)
		if m["type"] == kind {
			status, _ = m["status"].(string)
			reason, _ = m["reason"].(string)
		}
	}
	return status, reason
}
