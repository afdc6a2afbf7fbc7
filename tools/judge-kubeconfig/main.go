// SPDX-License-Identifier: Apache-2.0

// Loads a configuration with client-go and prints it as JSON, in the form of
// tests/integration/config_print.c. Reads one line for each: the arguments as a JSON list.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type execConfig struct {
	APIVersion         string          `json:"apiVersion"`
	Command            string          `json:"command"`
	Args               []string        `json:"args"`
	Env                []variable      `json:"env"`
	InteractiveMode    string          `json:"interactiveMode"`
	InstallHint        string          `json:"installHint"`
	Config             json.RawMessage `json:"config"`
	ProvideClusterInfo bool            `json:"provideClusterInfo"`
}

type config struct {
	Server             string              `json:"server"`
	PathPrefix         string              `json:"pathPrefix"`
	Namespace          string              `json:"namespace"`
	Proxy              string              `json:"proxy"`
	CAData             []byte              `json:"caData"`
	CAFile             string              `json:"caFile"`
	CertData           []byte              `json:"certData"`
	CertFile           string              `json:"certFile"`
	KeyData            []byte              `json:"keyData"`
	KeyFile            string              `json:"keyFile"`
	TLSServerName      string              `json:"tlsServerName"`
	Token              string              `json:"token"`
	TokenFile          string              `json:"tokenFile"`
	Username           string              `json:"username"`
	Password           string              `json:"password"`
	As                 string              `json:"as"`
	AsUID              string              `json:"asUid"`
	AsGroups           []string            `json:"asGroups"`
	AsExtra            map[string][]string `json:"asExtra"`
	Exec               *execConfig         `json:"exec,omitempty"`
	Insecure           bool                `json:"insecure"`
	DisableCompression bool                `json:"disableCompression"`
}

func fillExec(from *api.ExecConfig) *execConfig {
	if from == nil {
		return nil
	}
	to := &execConfig{APIVersion: from.APIVersion, Command: from.Command, Args: from.Args,
		InteractiveMode: string(from.InteractiveMode), InstallHint: from.InstallHint,
		ProvideClusterInfo: from.ProvideClusterInfo}
	for _, v := range from.Env {
		to.Env = append(to.Env, variable{v.Name, v.Value})
	}
	if unknown, ok := from.Config.(*runtime.Unknown); ok {
		to.Config = unknown.Raw
	}
	return to
}

// What client-go refuses only when it makes the connection.
func transportError(c *rest.Config) error {
	if (c.CAFile != "" || len(c.CAData) != 0) && c.Insecure {
		return errors.New("transport: a CA and insecure")
	}
	if c.Username != "" && (c.BearerToken != "" || c.BearerTokenFile != "") {
		return errors.New("transport: basic and token")
	}
	if e := c.ExecProvider; e != nil && e.APIVersion != "client.authentication.k8s.io/v1" &&
		e.APIVersion != "client.authentication.k8s.io/v1beta1" {
		return errors.New("transport: version of exec")
	}
	return nil
}

func convert(c *rest.Config, namespace string) (*config, error) {
	if err := transportError(c); err != nil {
		return nil, err
	}
	server, _, err := rest.DefaultServerUrlFor(c)
	if err != nil {
		return nil, err
	}
	out := &config{Namespace: namespace, CAData: c.CAData, CAFile: c.CAFile, CertData: c.CertData,
		CertFile: c.CertFile, KeyData: c.KeyData, KeyFile: c.KeyFile, TLSServerName: c.ServerName,
		Token: c.BearerToken, TokenFile: c.BearerTokenFile, Username: c.Username,
		Password: c.Password, As: c.Impersonate.UserName, AsUID: c.Impersonate.UID,
		AsGroups: c.Impersonate.Groups, AsExtra: c.Impersonate.Extra, Insecure: c.Insecure,
		DisableCompression: c.DisableCompression, Exec: fillExec(c.ExecProvider)}
	out.Server = server.Scheme + "://" + server.Host
	out.PathPrefix = strings.TrimRight(server.EscapedPath(), "/")
	if c.Proxy != nil {
		proxy, err := c.Proxy(nil)
		if err != nil {
			return nil, err
		}
		out.Proxy = proxy.String()
	}
	// client-go has read the file already.
	if content, err := os.ReadFile(c.BearerTokenFile); err == nil && string(content) == c.BearerToken {
		out.Token = ""
	}
	return out, nil
}

func loadingRules(args map[string]string) *clientcmd.ClientConfigLoadingRules {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: args["path"]}
	if list := args["env.KUBECONFIG"]; list != "" {
		rules.Precedence = filepath.SplitList(list)
	} else if home := args["env.HOME"]; home != "" {
		rules.Precedence = []string{filepath.Join(home, ".kube", "config")}
	}
	return rules
}

func load(args map[string]string) (*config, error) {
	_, insecure := args["insecure"]
	_, uncompressed := args["disable-compression"]
	overrides := &clientcmd.ConfigOverrides{
		CurrentContext: args["context"],
		Context: api.Context{Cluster: args["cluster"], AuthInfo: args["user"],
			Namespace: args["namespace"]},
		ClusterInfo: api.Cluster{Server: args["server"], TLSServerName: args["tls-server-name"],
			CertificateAuthority: args["ca-file"], InsecureSkipTLSVerify: insecure,
			ProxyURL: args["proxy-url"], DisableCompression: uncompressed},
		AuthInfo: api.AuthInfo{ClientCertificate: args["client-cert-file"],
			ClientKey: args["client-key-file"], Token: args["token"], Username: args["username"],
			Password: args["password"], Impersonate: args["as"], ImpersonateUID: args["as-uid"]},
	}
	if group := args["as-group"]; group != "" {
		overrides.AuthInfo.ImpersonateGroups = []string{group}
	}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(loadingRules(args), overrides)
	c, err := loader.ClientConfig()
	if err != nil {
		return nil, err
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, err
	}
	return convert(c, namespace)
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var list []string
		if err := json.Unmarshal(lines.Bytes(), &list); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		args := map[string]string{}
		for _, argument := range list {
			name, value, _ := strings.Cut(argument, "=")
			args[name] = value
		}
		c, err := load(args)
		if err != nil {
			var bad *url.Error
			_ = out.Encode(map[string]any{"error": err.Error(), "url": errors.As(err, &bad)})
			continue
		}
		_ = out.Encode(c)
	}
}
