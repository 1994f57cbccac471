package realkube

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// prepare writes what the programs read: keys, tokens, and where they find each other.
func (c *ControlPlane) prepare() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := os.WriteFile(c.file("service-accounts.key"), block, 0o600); err != nil {
		return err
	}
	c.administration = rand.Text()
	tokens := fmt.Sprintf("%s,admin,admin,system:masters\n%s,system:kube-controller-manager,cm,system:masters\n%s,system:kube-scheduler,scheduler\n",
		c.administration, c.tokenOf("controller-manager"), c.tokenOf("scheduler"))
	c.Config = &rest.Config{Host: "https://" + c.api, BearerToken: c.administration, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAFile: c.file("certificates/apiserver.crt")}}
	return os.WriteFile(c.file("tokens.csv"), []byte(tokens), 0o600)
}

func (c *ControlPlane) tokenOf(program string) string { return program + "-" + c.administration }

func (c *ControlPlane) etcdArguments() []string {
	peers := "http://" + c.etcdPeers
	return []string{"--data-dir", c.file("etcd"), "--listen-client-urls", "http://" + c.etcd, "--advertise-client-urls", "http://" + c.etcd,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default=" + peers,
		"--unsafe-no-fsync", "--log-level", "warn"}
}

func (c *ControlPlane) apiServerArguments() []string {
	_, port, _ := net.SplitHostPort(c.api)
	key := c.file("service-accounts.key")
	return append([]string{"--etcd-servers", "http://" + c.etcd, "--bind-address=127.0.0.1", "--secure-port", port, "--cert-dir", c.file("certificates"),
		"--advertise-address=192.0.2.1", "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.96.0.0/16",
		"--authorization-mode=RBAC", "--token-auth-file", c.file("tokens.csv"),
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file", key, "--service-account-signing-key-file", key,
		"--disable-admission-plugins=TaintNodesByCondition", // nobody here takes the taint away again
		"--shutdown-delay-duration=0s", "--v=0"}, c.Further...)
}

func (c *ControlPlane) controllerManagerArguments() []string {
	return []string{"--kubeconfig", c.file("controller-manager.kubeconfig"), "--leader-elect=false", "--secure-port=0",
		"--service-account-private-key-file", c.file("service-accounts.key"), "--root-ca-file", c.Config.CAFile,
		"--controllers=*,-node-lifecycle-controller", // nodes of tests have no heartbeat
		"--horizontal-pod-autoscaler-sync-period=1s",
		"--v=0"}
}

// Kubeconfig is a file with which a program reaches the API server as a cluster's administrator.
func (c *ControlPlane) Kubeconfig() string { return c.file("administrator.kubeconfig") }

func (c *ControlPlane) writeKubeconfigs() error {
	for program, token := range map[string]string{"controller-manager": c.tokenOf("controller-manager"), "scheduler": c.tokenOf("scheduler"), "administrator": c.administration} {
		config := api.NewConfig()
		config.Clusters["it"] = &api.Cluster{Server: c.Config.Host, CertificateAuthority: c.Config.CAFile}
		config.AuthInfos["it"] = &api.AuthInfo{Token: token}
		config.Contexts["it"] = &api.Context{Cluster: "it", AuthInfo: "it"}
		config.CurrentContext = "it"
		if err := clientcmd.WriteToFile(*config, c.file(program+".kubeconfig")); err != nil {
			return fmt.Errorf("kubeconfig of %s: %w", strings.ReplaceAll(program, "-", " "), err)
		}
	}
	return nil
}
