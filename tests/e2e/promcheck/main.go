// SPDX-License-Identifier: Apache-2.0

// promcheck reads metrics as Prometheus does, and judges them by promtool's rules. It reads text
// from its standard input, in the Prometheus text format or in OpenMetrics by the media type that
// is its only argument, and prints one line for each complaint, then a summary.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

// scrape reads as a server of Prometheus does, and complains of series that come twice.
func scrape(text []byte, mediaType string) (series int, complaints []string) {
	parser, err := textparse.New(text, mediaType, labels.NewSymbolTable(), textparse.ParserOptions{})
	if err != nil {
		return 0, []string{fmt.Sprintf("no parser: %v", err)}
	}
	seen := map[string]bool{}
	for {
		entry, err := parser.Next()
		if errors.Is(err, io.EOF) {
			return series, complaints
		}
		if err != nil {
			return series, append(complaints, fmt.Sprintf("after %d series: %v", series, err))
		}
		if entry != textparse.EntrySeries {
			continue
		}
		series++
		var found labels.Labels
		parser.Labels(&found)
		if seen[found.String()] {
			complaints = append(complaints, "twice: "+found.String())
		}
		seen[found.String()] = true
	}
}

// families are those that the parser of the text format finds.
func families(text []byte) (count int, complaints []string) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	found, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return 0, []string{fmt.Sprintf("expfmt: %v", err)}
	}
	return len(found), nil
}

// lint has promtool's rules.
func lint(text []byte) (complaints []string) {
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil {
		return []string{fmt.Sprintf("promlint: %v", err)}
	}
	for _, problem := range problems {
		complaints = append(complaints, fmt.Sprintf("%s: %s", problem.Metric, problem.Text))
	}
	return complaints
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: promcheck media-type < text")
		os.Exit(2)
	}
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	series, complaints := scrape(text, os.Args[1])
	count := 0
	if bytes.HasPrefix([]byte(os.Args[1]), []byte("text/plain")) {
		var more []string
		count, more = families(text)
		complaints = append(complaints, more...)
		complaints = append(complaints, lint(text)...)
	}
	sort.Strings(complaints)
	for _, complaint := range complaints {
		fmt.Println(complaint)
	}
	fmt.Printf("%d series, %d families, %d complaints\n", series, count, len(complaints))
	if len(complaints) != 0 {
		os.Exit(1)
	}
}
