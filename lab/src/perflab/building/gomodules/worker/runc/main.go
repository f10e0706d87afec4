// runc-plain starts runc, which this lab builds without libseccomp, after it took the seccomp profile out of the
// bundle: otherwise, runc refuses each sandbox of a pod.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	self, err := os.Executable()
	if err == nil {
		err = dropSeccomp(bundle(os.Args[1:]))
	}
	if err == nil {
		real := filepath.Join(filepath.Dir(self), "runc")
		err = syscall.Exec(real, append([]string{real}, os.Args[1:]...), os.Environ())
	}
	fmt.Fprintln(os.Stderr, "runc-plain:", err)
	os.Exit(127)
}

// bundle returns the folder of the bundle that the arguments create or run, or "".
func bundle(arguments []string) string {
	creates, folder := false, ""
	for i, argument := range arguments {
		switch {
		case argument == "create" || argument == "run":
			creates = true
		case (argument == "--bundle" || argument == "-b") && i+1 < len(arguments):
			folder = arguments[i+1]
		case strings.HasPrefix(argument, "--bundle="):
			folder = argument[len("--bundle="):]
		}
	}
	if !creates {
		return ""
	}
	return folder
}

func dropSeccomp(bundle string) error {
	if bundle == "" {
		return nil
	}
	path := filepath.Join(bundle, "config.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var spec, linux map[string]json.RawMessage
	if err = json.Unmarshal(data, &spec); err != nil {
		return err
	}
	if err = json.Unmarshal(spec["linux"], &linux); err != nil {
		return err
	}
	delete(linux, "seccomp")
	if spec["linux"], err = json.Marshal(linux); err != nil {
		return err
	}
	if data, err = json.Marshal(spec); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
