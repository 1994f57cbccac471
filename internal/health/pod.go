package health

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/promotion"
)

// present leaves out pods that are on their way out, or have ended and stay as a record, as evicted ones do.
func present(pods []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(pods), func(pod *unstructured.Unstructured) bool {
		phase := text(pod.Object, "status", "phase")
		return pod.GetDeletionTimestamp() != nil || phase == "Failed" || phase == "Succeeded"
	})
}

// runningImages pairs what the pods' containers ask for with what their nodes say they run.
// Containers that no image was pulled for yet are left out.
func runningImages(pods []*unstructured.Unstructured, logs map[Crash]Log) []promotion.ContainerImage {
	var all []promotion.ContainerImage
	for _, pod := range present(pods) {
		for _, kind := range []string{"initContainer", "container"} {
			asked := map[string]string{}
			for _, c := range list(pod.Object, "spec", kind+"s") {
				asked[text(c, "name")] = text(c, "image")
			}
			for _, status := range list(pod.Object, "status", kind+"Statuses") {
				id := strings.TrimPrefix(text(status, "imageID"), "docker-pullable://")
				if id == "" {
					continue
				}
				ready, _, _ := unstructured.NestedBool(status, "ready")
				all = append(all, promotion.ContainerImage{Pod: pod.GetName(), Container: text(status, "name"),
					Image: asked[text(status, "name")], ImageID: id, Ready: ready, Ended: lastEnd(pod, status, logs)})
			}
		}
	}
	return all
}

// podTrouble is what keeps the first troubled pod from working, and what to do. It says the same
// all through a crash loop, whatever moment of it is seen.
func podTrouble(pods []*unstructured.Unstructured) string {
	for _, pod := range present(pods) {
		for _, kind := range []string{"initContainer", "container"} {
			for _, status := range list(pod.Object, "status", kind+"Statuses") {
				if trouble := containerTrouble(pod, status); trouble != "" {
					return trouble
				}
			}
		}
		if trouble := schedulingTrouble(pod); trouble != "" {
			return trouble
		}
	}
	return ""
}

func containerTrouble(pod *unstructured.Unstructured, status map[string]any) string {
	name, image := text(status, "name"), text(status, "image")
	message := text(status, "state", "waiting", "message")
	switch text(status, "state", "waiting", "reason") {
	case "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "RegistryUnavailable":
		return pullTrouble(pod.GetName(), image, message)
	case "InvalidImageName":
		return fmt.Sprintf("Pod %s asks for image %s, which is not a valid reference. Correct it in the overlay.", pod.GetName(), image)
	case "CreateContainerConfigError", "CreateContainerError":
		return sentence(fmt.Sprintf("Container %s of pod %s cannot be created", name, pod.GetName()), message) +
			" Look at the ConfigMaps and Secrets that it refers to."
	}
	return crashTrouble(pod, status)
}

func schedulingTrouble(pod *unstructured.Unstructured) string {
	for _, c := range list(pod.Object, "status", "conditions") {
		if text(c, "type") == "PodScheduled" && text(c, "status") == "False" && text(c, "reason") == "Unschedulable" {
			message := text(c, "message")
			return sentence(fmt.Sprintf("Pod %s finds no node", pod.GetName()), message) + schedulingRemedy(message)
		}
	}
	return ""
}

// backOff is what newer kubelets put before the cause while they wait.
var backOff = regexp.MustCompile(`^Back-off pulling image "[^"]*"(: ErrImagePull)?(: )?`)

func pullCause(message string) string { return backOff.ReplaceAllString(message, "") }

// sentence joins what happens and why.
func sentence(what, why string) string {
	why = strings.TrimRight(strings.TrimSpace(why), ".")
	if why == "" {
		return what + "."
	}
	return what + ": " + why + "."
}
